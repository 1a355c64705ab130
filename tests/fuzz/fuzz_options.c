// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A command line, its arguments ended by NUL: what is accepted is in range, and can be shown. */
#include "fuzz.h"

#include <getopt.h>

#include "aqm/pi2.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/params.h"

#define ARGUMENTS_MAX 64

/* Returns how many arguments there are. */
static int split(char *text, size_t size, char **argv)
{
	int argc = 1;

	argv[0] = "fuzz";
	for (char *end = text + size; text < end && argc < ARGUMENTS_MAX; text += strlen(text) + 1)
		argv[argc++] = text;
	argv[argc] = NULL;
	return argc;
}

static bool read_line(int argc, char **argv, const char **values)
{
	struct option_group groups[] = {
		{ "Parameters", param_specs, N_PARAMS, values, true, true },
	};
	const struct command command = { "fuzz", "", "", "", groups, 1 };
	const char *interface;
	enum status status;

	optind = 0; /* getopt starts anew */
	return command_read(&command, argc, argv, &interface, &status);
}

static void check_ranges(const struct dualpi2_params *params)
{
	ALWAYS(params->limit >= 1 && params->limit <= DUALPI2_LIMIT_MAX);
	ALWAYS(aqm_own(params)->tupdate_ns >= 1000);
	ALWAYS(params->coupling >= 1);
	ALWAYS(params->classic_protection <= 100);
	ALWAYS(params->mpu <= DUALPI2_MPU_MAX);
	ALWAYS(params->overhead >= DUALPI2_OVERHEAD_MIN);
	ALWAYS(params->overhead <= DUALPI2_OVERHEAD_MAX);
	ALWAYS(!(params->l4s_dscp & params->classic_dscp));
}

/* What is shown is for people ("10000p"), but if it is a value then it is the same one; but for
 * p_Cmax, of which six digits are shown.
 */
static void check_shown(const struct dualpi2_params *params)
{
	char shown[OPTION_TEXT_MAX], again_shown[OPTION_TEXT_MAX];

	for (int i = 0; i < N_PARAMS; i++) {
		const struct option_spec *spec = &param_specs[i];
		struct dualpi2_params again = *params;

		if (i == PARAM_P_CMAX || !spec->format)
			continue;
		if (spec->set(spec->format(params, shown), &again) == VALUE_OK)
			ALWAYS(!strcmp(spec->format(&again, again_shown), shown));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *values[N_PARAMS] = {};
	struct dualpi2_params params = params_default();
	char *argv[ARGUMENTS_MAX + 1], text[OPTION_TEXT_MAX], why[PARAMS_WHY_MAX];
	char *line = fuzz_text(data, size);

	message_init("fuzz");
	if (read_line(split(line, size, argv), argv, values) && params_given(values) &&
	    params_apply(values, &params, why)) {
		check_ranges(&params);
		check_shown(&params);
		params_describe(values, &params, text, sizeof(text));
	}
	free(line);
	return 0;
}
