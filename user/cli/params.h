/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parameters of the qdisc as options: names, units and ranges. */
#ifndef PARAMS_H
#define PARAMS_H

#include "cli/options.h"

/* In the order in which they take effect: a later one overrides what an earlier one on
 * the same command line has set, so --overhead adjusts a preset.
 */
enum param {
	/* the shaper */
	PARAM_RATE,
	PARAM_RAW,
	PARAM_ETHERNET,
	PARAM_DOCSIS,
	PARAM_PPPOE_PTM,
	PARAM_OVERHEAD,
	PARAM_MPU,

	/* what tc has for dualpi2 */
	PARAM_TARGET,
	PARAM_TUPDATE,
	PARAM_ALPHA,
	PARAM_BETA,
	PARAM_MAX_RTT,
	PARAM_TYPICAL_RTT,
	PARAM_COUPLING_FACTOR,
	PARAM_STEP_THRESH,
	PARAM_MIN_QLEN_STEP,
	PARAM_CLASSIC_PROTECTION,
	PARAM_LIMIT,
	PARAM_MEMLIMIT,
	PARAM_DROP_ON_OVERLOAD,
	PARAM_OVERFLOW,
	PARAM_DROP_DEQUEUE,
	PARAM_DROP_ENQUEUE,
	PARAM_L4S_ECT,
	PARAM_ANY_ECT,
	PARAM_SPLIT_GSO,
	PARAM_NO_SPLIT_GSO,

	/* what it has not */
	PARAM_NO_L4S,
	PARAM_L4S_DSCP,
	PARAM_CLASSIC_DSCP,
	PARAM_L_AQM,
	PARAM_P_CMAX,
	N_PARAMS,
};

#define PARAM_TC_FIRST PARAM_TARGET
#define PARAM_OWN_FIRST PARAM_NO_L4S

/* Options that say which of a few ways something is done exclude each other. */
enum param_slot {
	SLOT_NONE,
	SLOT_LINK, /* presets: each stands for a framing, an --overhead and an --mpu */
	SLOT_OVERLOAD,
	SLOT_DROP,
	SLOT_ECN,
	SLOT_SPLIT,
};

extern const struct option_spec param_specs[N_PARAMS];

/* Put the values that were given (checked by command_read()) into `params`, and leave
 * its other members alone, but for two rules of native: RTTs override target, tupdate,
 * alpha and beta, and a new limit without a memlimit makes that the rule of thumb again.
 *
 * False if the values contradict each other, or those in `params`: `why`
 * (PARAMS_WHY_MAX bytes) tells, and what is in `params` is of no use.
 */
#define PARAMS_WHY_MAX 200
bool params_apply(const char *const values[N_PARAMS], struct dualpi2_params *params, char *why);

/* What is in force where nothing was given. */
struct dualpi2_params params_default(void);

/* True if any was given. */
bool params_given(const char *const values[N_PARAMS]);

/* "target 10ms" or "any-ect": an option that can be shown (it has a `format`, or takes no
 * value) as it stands in `params`, in `text` (OPTION_TEXT_MAX bytes). Returns `text`.
 */
const char *params_text(enum param param, const struct dualpi2_params *params, char *text);

/* Is what this option sets in force in `params`, and not the default? Never for options
 * that only stand for others (presets of a link, RTTs).
 */
bool params_differ(enum param param, const struct dualpi2_params *params);

/* The name of the option of `slot` that is in force; "unknown" if none of them says it. */
const char *params_choice(enum param_slot slot, const struct dualpi2_params *params);

/* ", rate 40mbit, target 15ms": the parameters that `values` names, as they stand in
 * `params`, cut to `size` bytes. RTTs are shown with all that they have set. Returns
 * `text`.
 */
const char *params_describe(const char *const values[N_PARAMS], const struct dualpi2_params *params,
			    char *text, size_t size);

#endif /* PARAMS_H */
