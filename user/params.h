/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parameters of the qdisc as options: names, units and ranges. */
#ifndef PARAMS_H
#define PARAMS_H

#include "options.h"

enum param {
	PARAM_RATE,
	PARAM_TARGET,
	PARAM_TUPDATE,
	PARAM_ALPHA,
	PARAM_BETA,
	PARAM_COUPLING_FACTOR,
	PARAM_STEP_THRESH,
	PARAM_CLASSIC_PROTECTION,
	PARAM_LIMIT,
	PARAM_MEMLIMIT,
	N_PARAMS,
};

extern const struct option_spec param_specs[N_PARAMS];

/* Put the values that were given (checked by command_read()) into `params`, and
 * leave its other members alone.
 */
void params_apply(const char *const values[N_PARAMS], struct dualpi2_params *params);

/* True if any was given. */
bool params_given(const char *const values[N_PARAMS]);

/* ", rate 40mbit, target 15ms": the parameters that `values` names, as they stand in
 * `params`, cut to `size` bytes. Returns `text`.
 */
const char *params_describe(const char *const values[N_PARAMS], const struct dualpi2_params *params,
			    char *text, size_t size);

#endif /* PARAMS_H */
