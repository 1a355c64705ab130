/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The AQMs that there are. Each is a BPF object with its own kind of qdisc and its own
 * registration. All that the tools know of one is in its header include/aqm/NAME.h.
 */
#ifndef AQM_H
#define AQM_H

#include <stdbool.h>
#include <stddef.h>

#include "aqm/stat.h"
#include "cli/spec.h"
#include "dualpi2.h"

#define AQM_OPTIONS_MAX 16

/* What the parameters become by the options that set several of them. `texts`: as given, NULL for
 * those that were not; `values`: what they read as. Sets in `own` (struct aqm_params) what
 * follows, and `values` of all of them as they should be shown. False: they make no sense; `why`
 * (PARAMS_WHY_MAX bytes) tells.
 */
typedef bool aqm_derive(const char *const texts[], uint64_t values[], void *own, char *why);

struct aqm {
	const char *name;		     /* of --aqm */
	const char *kind;		     /* of its qdisc */
	const char *about;		     /* a line for --help */
	const void *(*object)(size_t *size); /* the BPF object: an ELF file */

	/* Its parameters, the one that matters most first, then options that set several. */
	const struct option_spec *options;
	size_t n_params, n_options;
	aqm_derive *derive; /* NULL: there are none of the latter */

	/* Its own gauges, and parameters that are metrics, of struct dualpi2_stats; ends as stat.h
	 * says. No two AQMs have a metric of the same name.
	 */
	const struct stat_row *gauges;

	/* Time between two updates with these parameters, ns. */
	__u64 (*period)(const struct dualpi2_params *params);
};

/* All of them, the default first, then NULL. Made by the Makefile from what there is in bpf/aqm/.
 */
#define AQMS_MAX 16
extern const struct aqm *const aqms[AQMS_MAX + 1];

/* The one that is used where none is asked for. */
static inline const struct aqm *aqm_default(void)
{
	return aqms[0];
}

/* The one of that name or kind; NULL: there is none. */
const struct aqm *aqm_named(const char *name);
const struct aqm *aqm_of_kind(const char *kind);

#endif /* AQM_H */
