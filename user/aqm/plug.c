// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One AQM for the rest of user/, which names none: compiled once for each, with AQM_HEADER
 * (include/aqm/NAME.h), AQM_SKELETON (its BPF object) and AQM_SYMBOL (aqm_NAME). If it can be where
 * several queues share a rate, then again for that, with AQM_ALONE (aqm_NAME); and the first one
 * has AQM_SHARED, the symbol of the other.
 */
#include "aqm/aqm.h"
#include "aqm/row.h"

#include AQM_HEADER
#include AQM_SKELETON

#ifdef AQM_DERIVED
extern aqm_derive AQM_DERIVE;
#else
#define AQM_DERIVED(DERIVED)
#define AQM_DERIVE NULL
#endif
#ifdef AQM_DOUBT
extern aqm_doubt AQM_DOUBT;
#else
#define AQM_DOUBT NULL
#endif
#ifdef AQM_DESCRIBE
extern aqm_describe AQM_DESCRIBE;
#else
#define AQM_DESCRIBE NULL
#endif
#ifndef AQM_HAS_VALUES
#define AQM_HAS_VALUES false
#endif
#ifndef AQM_PRESETS
#define AQM_PRESETS(PRESET)
#endif
#ifdef AQM_CAUTION
#define ROW_NOTE "\n" AQM_CAUTION
#else
#define ROW_NOTE
#endif
#ifndef AQM_PARAM_METRICS
#define AQM_PARAM_METRICS(GAUGE)
#endif

#ifdef AQM_ALONE
extern const struct aqm AQM_ALONE;
#define OWN_NAME AQM_NAME "-mq"
#define OWN_KIND AQM_SHARED_KIND
#define OWN_ALONE &AQM_ALONE
#else
#define OWN_NAME AQM_NAME
#define OWN_KIND AQM_KIND
#define OWN_ALONE NULL
#endif
#ifdef AQM_SHARED
extern const struct aqm AQM_SHARED;
#define OWN_SHARED &AQM_SHARED
#else
#define OWN_SHARED NULL
#endif
#ifndef AQM_NOT_SHARED
#define AQM_NOT_SHARED "it was not made for that"
#endif

#define ROW_STRUCT struct aqm_params
#define ROW_START offsetof(struct dualpi2_params, aqm)
#define ROW_AQM &AQM_SYMBOL
#define ROW_HEADING "AQM " AQM_NAME ": " AQM_ABOUT " (default)" ROW_NOTE

extern const struct aqm AQM_SYMBOL;

static const struct option_spec options[] = {
	AQM_PARAMS(ROW_PARAM, ROW_CHOICE, ROW_FLAG) AQM_DERIVED(ROW_DERIVED)
		AQM_PRESETS(ROW_PRESET){},
};

_Static_assert(sizeof(options) <= (AQM_OPTIONS_MAX + 1) * sizeof(options[0]),
	       "an AQM has too many options");

#define OWN_ROW(where_, struct_, counter_, type_, member_, ...)                                    \
	STAT_ROW_AT(offsetof(struct dualpi2_stats, where_) + offsetof(struct_, member_), counter_, \
		    type_, member_, __VA_ARGS__)
#define OWN_GAUGE(...) OWN_ROW(aqm, struct aqm_gauges, false, __VA_ARGS__)
#define OWN_COUNTER(...) OWN_ROW(aqm, struct aqm_gauges, true, __VA_ARGS__)
#define OWN_PARAM(...) OWN_ROW(params.aqm, struct aqm_params, false, __VA_ARGS__)

static const struct stat_row gauges[] = { AQM_GAUGES(OWN_GAUGE, OWN_COUNTER)
						  AQM_PARAM_METRICS(OWN_PARAM){} };

const struct aqm AQM_SYMBOL = {
	.name = OWN_NAME,
	.kind = OWN_KIND,
	.heading = ROW_HEADING,
	.object = dualpi2__elf_bytes,
	.options = options,
	.derive = AQM_DERIVE,
	.doubt = AQM_DOUBT,
	.describe = AQM_DESCRIBE,
	.has_values = AQM_HAS_VALUES,
	.gauges = gauges,
	.period = aqm_period,
	.alone = OWN_ALONE,
	.shared = OWN_SHARED,
	.not_shared = AQM_NOT_SHARED,
};
