/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What follows from the rows of an AQM: included at the end of include/aqm/NAME.h, after
 * AQM_PARAMS(PARAM, CHOICE, FLAG), rows as in params.h, and AQM_GAUGES(GAUGE, COUNTER), rows as in
 * stats.h.
 * A translation unit knows one AQM at most.
 */
#ifndef DUALPI2_AQM_H
#define DUALPI2_AQM_H

#include "dualpi2.h"

/* The AQM's own parameters, in the `aqm` of struct dualpi2_params. */
struct aqm_params {
	AQM_PARAMS(DUALPI2_MEMBER, DUALPI2_MEMBER, DUALPI2_NOTHING)
} __attribute__((may_alias));

_Static_assert(sizeof(struct aqm_params) <= sizeof(((struct dualpi2_params *)0)->aqm),
	       "an AQM has too many parameters");

/* The AQM's own gauges and counters, in the `aqm` of struct dualpi2_stats. */
struct aqm_gauges {
	AQM_GAUGES(DUALPI2_STAT, DUALPI2_STAT)
} __attribute__((may_alias));

_Static_assert(sizeof(struct aqm_gauges) <= sizeof(((struct dualpi2_stats *)0)->aqm),
	       "an AQM has too many gauges");

#define AQM_DEFAULT_PARAMS { AQM_PARAMS(DUALPI2_DEFAULT, DUALPI2_DEFAULT_CHOICE, DUALPI2_NOTHING) }

static inline const struct aqm_params *aqm_own(const struct dualpi2_params *params)
{
	return (const struct aqm_params *)params->aqm;
}

/* Time between two updates, ns. */
static inline __u64 aqm_period(const struct dualpi2_params *params)
{
	(void)params; /* where it is a constant */
	return AQM_PERIOD(aqm_own(params));
}

#endif /* DUALPI2_AQM_H */
