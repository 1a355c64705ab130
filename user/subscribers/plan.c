// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/plan.h"

#include <stdio.h>

#include "cli/options.h"
#include "params.h"

#define NUMBER_MAX 64 /* characters, with the unit */

bool plan_read_rate(const char *what, const char *text, uint64_t *rate)
{
	const struct option_spec spec = {
		.name = what,
		.is_word = true,
		.kind = KIND_RATE,
		.min = DUALPI2_RATE_MIN,
		.max = DUALPI2_RATE_MAX,
		.value = 5000000, /* the example of messages */
	};

	return option_read(&spec, text, rate);
}

bool plan_read_mbps(const char *what, const char *text, uint64_t *rate)
{
	char with_unit[NUMBER_MAX];

	if (snprintf(with_unit, sizeof(with_unit), "%smbit", text) >= NUMBER_MAX)
		return fail(0, "%s %s: longer than any number of Mbit/s", what, text);
	return plan_read_rate(what, with_unit, rate);
}
