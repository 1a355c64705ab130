/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The AQMs that there are. Each is a BPF object with its own kind of qdisc and its own
 * registration. All that the tools know of one is in its header include/aqm/NAME.h.
 */
#ifndef AQM_H
#define AQM_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "aqm/stat.h"
#include "cli/spec.h"
#include "dualpi2.h"

#define AQM_OPTIONS_MAX 16

/* An option that sets several parameters. */
struct aqm_derived {
	const struct option_spec *spec;
	const char *given; /* NULL: nothing */
	uint64_t value;	   /* that it says, or 0 */
};

/* What the parameters become by all such options of an AQM, in the order of its table, of which at
 * least one was given. Sets in `own` (struct aqm_params) what follows, and the values of all of
 * them as they should be shown. False: they make no sense; `why` (PARAMS_WHY_MAX bytes) tells.
 */
typedef bool aqm_derive(struct aqm_derived derived[], void *own, char *why);

/* What should be known of these parameters; NULL: nothing. */
typedef const char *aqm_doubt(const struct dualpi2_params *params);

/* What it does now, in words (`size` bytes); false: nothing that has to be said. */
typedef bool aqm_describe(const struct dualpi2_stats *stats, char *text, size_t size);

/* What an AQM can be. Each is a kind of qdisc of its own, with an object, a registration and an
 * entry among the AQMs.
 */
enum aqm_variant {
	AQM_PLAIN,	 /* a qdisc with one DualQ and a link of its own */
	AQM_MQ,		 /* of several below an mq, which share one rate */
	AQM_HOSTS,	 /* a qdisc with a DualQ for each host */
	AQM_SUBSCRIBERS, /* a qdisc with a DualQ and a plan for each subscriber */
	AQM_VARIANTS,
};

struct aqm {
	enum aqm_variant variant;
	const struct aqm *variants[AQM_VARIANTS]; /* of the same AQM; NULL: it cannot be that */
	const char *why_not[AQM_VARIANTS];	  /* if it cannot: "it decides by ..." */

	const char *name;		     /* of --aqm, and of its pins */
	const char *kind;		     /* of its qdisc */
	const char *heading;		     /* of its options in --help */
	const void *(*object)(size_t *size); /* the BPF object: an ELF file */

	/* A table of its parameters, the one that matters most first, and of options that set
	 * several.
	 */
	const struct option_spec *options;
	aqm_derive *derive; /* NULL: there are none of the latter */

	aqm_doubt *doubt;	/* NULL: there is nothing to know */
	aqm_describe *describe; /* NULL: p' and delays say all */
	bool has_values;	/* has it a map of values? (struct dualpi2_values) */

	/* Its own gauges, and parameters that are metrics, of struct dualpi2_stats; ends as stat.h
	 * says. No two AQMs have a metric of the same name.
	 */
	const struct stat_row *gauges;

	/* Time between two updates with these parameters, ns. */
	__u64 (*period)(const struct dualpi2_params *params);
};

/* All of them, plain, the default first; then their other variants; then NULL. Made by the Makefile
 * from what there is in bpf/aqm/.
 */
#define AQMS_MAX 16
extern const struct aqm *const aqms[AQMS_MAX + 1];

/* The one that is used where none is asked for. */
static inline const struct aqm *aqm_default(void)
{
	return aqms[0];
}

/* The one of that kind; NULL: there is none. */
static inline const struct aqm *aqm_of_kind(const char *kind)
{
	const struct aqm *const *aqm = aqms;

	while (*aqm && strcmp((*aqm)->kind, kind))
		aqm++;
	return *aqm;
}

/* Is there an i-th AQM, if other variants do not count? */
static inline bool aqm_is_listed(size_t i)
{
	return aqms[i] && aqms[i]->variant == AQM_PLAIN;
}

/* Has a qdisc of this variant many DualQs, which the tools make? */
static inline bool aqm_has_many(const struct aqm *aqm)
{
	return aqm->variant == AQM_HOSTS || aqm->variant == AQM_SUBSCRIBERS;
}

/* The AQM itself, whose name, options and metrics all its variants have. */
static inline const struct aqm *aqm_proper(const struct aqm *aqm)
{
	return aqm ? aqm->variants[AQM_PLAIN] : NULL;
}

#endif /* AQM_H */
