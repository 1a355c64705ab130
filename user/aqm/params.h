/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parameters of a qdisc: those that all have, and those of its AQM. */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdio.h>

#include "aqm/aqm.h"
#include "aqm/row.h"
#include "cli/value.h"

/* Under which --help has those that all have. */
#define PARAMS_SHAPER "Shaper (default)"
#define PARAMS_TC "Parameters that tc has for dualpi2 (default)"
#define PARAMS_OWN "Parameters of our own (default)"

/* Rows of all parameters, with the end. */
enum {
	PARAMS_COMMON = 0 DUALPI2_PARAMS(ROW_COUNT, ROW_COUNT, ROW_COUNT),
	PARAMS_MAX = PARAMS_COMMON + AQMS_MAX * AQM_OPTIONS_MAX + 1,
};

/* The table of all of them, in the order of params.h, with those of all AQMs. */
const struct option_spec *params_all(void);

/* `given` below is what was given for the rows of params_all(), as command_read() has read and
 * checked it.
 */

/* Nothing. */
extern const struct option_given params_none[PARAMS_MAX];

/* Was any given? */
bool params_given(const struct option_given *given);

/* What was given for the first one of this name, which must be there. */
const struct option_given *param_given(const struct option_given *given, const char *name);

/* What is in force where nothing is given. */
struct dualpi2_params params_default(const struct aqm *aqm);

/* Put what was given into `params`, and leave its other members alone, but for what
 * options set together, and for a rule of native: a new limit without a memlimit makes that the
 * rule of thumb again. Hosts are rounded up to full sets.
 *
 * False if the values contradict each other, or those in `params`: `why` (PARAMS_WHY_MAX bytes)
 * tells, and what is in `params` is of no use.
 */
#define PARAMS_WHY_MAX 200
bool params_apply(const struct option_given *given, const struct aqm *aqm,
		  struct dualpi2_params *params, char *why);

/* Write down why values are refused (printf-like). Always false. */
#define params_refuse(why, ...) (snprintf(why, PARAMS_WHY_MAX, __VA_ARGS__), false)

/* What should be known of parameters that make a link useless, or of which their AQM knows
 * something; NULL: nothing. Writes to `text` (PARAMS_WHY_MAX bytes) or not.
 */
const char *params_doubt(const struct aqm *aqm, const struct dualpi2_params *params, char *text);

/* Surprise number `i` of those that tc's units may be: "--target 15 is 15us: ..."; NULL: there are
 * no more. Writes to `text` (PARAMS_SURPRISE_MAX bytes).
 */
#define PARAMS_SURPRISE_MAX (2 * OPTION_TEXT_MAX)
const char *params_surprise(const struct option_given *given, size_t i, char *text);

/* "target" of the AQM, ns; 0: it has none. */
uint64_t params_target(const struct aqm *aqm, const struct dualpi2_params *params);

/* ---- to show them ---------------------------------------------------------------- */

/* Number `i` of all rows for an AQM, in the order of params.h; NULL: there are no more. */
const struct option_spec *params_row(const struct aqm *aqm, size_t i);

/* Is it one that sch_dualpi2 has, or of the AQM? The others come behind them. */
bool params_row_is_first(const struct option_spec *spec);

/* The value of a row as it stands in `params`, for value.h. */
uint64_t params_value(const struct option_spec *spec, const struct dualpi2_params *params);

/* Is what an option sets in force, and not the default? Never for options that only stand for
 * others, nor for what is no option.
 */
bool params_differ(const struct option_spec *spec, const struct dualpi2_params *params);

/* The name of the flag that is in force of those for the member that this row is of; NULL: it has
 * none; "unknown": none of them says it.
 */
const char *params_flag(const struct option_spec *spec, const struct dualpi2_params *params);

/* "target 10ms" or "any-ect": an option as it stands in `params`, in `text` (OPTION_TEXT_MAX
 * bytes). Returns `text`.
 */
const char *params_text(const struct option_spec *spec, const struct dualpi2_params *params,
			char *text);

/* Does this row stand in the head of what is shown: the rate, and the first of the AQM's? */
bool params_is_head(const struct option_spec *spec);

/* ", rate 40mbit, target 15ms": what was given, and `with_head` what stands in
 * heads, as they stand in `params`, cut to `size` bytes. Options that set several are shown with
 * all of them; one that stands for others, by its name and its label. Returns `text`.
 */
const char *params_describe(const struct option_given *given, bool with_head, const struct aqm *aqm,
			    const struct dualpi2_params *params, char *text, size_t size);

#endif /* PARAMS_H */
