// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One AQM for the rest of user/, which names none: compiled once for each, with AQM_HEADER
 * (include/aqm/NAME.h), AQM_SKELETON (its BPF object) and AQM_SYMBOL (aqm_NAME).
 */
#include "aqm/aqm.h"
#include "aqm/row.h"

#include AQM_HEADER
#include AQM_SKELETON

static const struct option_spec options[] = { AQM_PARAMS(ROW_OWN)
#ifdef AQM_DERIVED
						      AQM_DERIVED(ROW_DERIVED)
#endif
};

enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };

_Static_assert(N_OPTIONS <= AQM_OPTIONS_MAX, "an AQM has too many options");

#ifdef AQM_DERIVED
extern aqm_derive AQM_DERIVE;
#else
#define AQM_DERIVE NULL
#endif

#define OWN_ROW(where_, struct_, type_, member_, ...)                                           \
	STAT_ROW_AT(offsetof(struct dualpi2_stats, where_) + offsetof(struct_, member_), false, \
		    type_, member_, __VA_ARGS__)
#define OWN_GAUGE(...) OWN_ROW(aqm, struct aqm_gauges, __VA_ARGS__)
#define OWN_PARAM(...) OWN_ROW(params.aqm, struct aqm_params, __VA_ARGS__)

static const struct stat_row gauges[] = {
	AQM_GAUGES(OWN_GAUGE)
#ifdef AQM_PARAM_METRICS
		AQM_PARAM_METRICS(OWN_PARAM)
#endif
			{},
};

const struct aqm AQM_SYMBOL = {
	.name = AQM_NAME,
	.kind = AQM_KIND,
	.about = AQM_ABOUT,
	.object = dualpi2__elf_bytes,
	.options = options,
	.n_params = 0 AQM_PARAMS(ROW_COUNT),
	.n_options = N_OPTIONS,
	.derive = AQM_DERIVE,
	.gauges = gauges,
	.period = aqm_period,
};
