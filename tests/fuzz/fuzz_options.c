// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A command line, its arguments ended by NUL: what is accepted is in range, and can be shown. */
#include "fuzz.h"

#include <getopt.h>

#include "aqm/params.h"
#include "cli/options.h"

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

static bool read_line(int argc, char **argv, struct command *command)
{
	enum status status;

	*command = (struct command){ .name = "fuzz",
				     .synopsis = "",
				     .about = "",
				     .epilogue = "",
				     .words = { { "interface", .is_word = true, .kind = KIND_FILE,
						  .words = "eth0" } } };
	memcpy(command->options, params_all(), PARAMS_MAX * sizeof(*command->options));
	optind = 0; /* getopt starts anew */
	return command_read(command, argc, argv, &status);
}

static void check_ranges(const struct dualpi2_params *params)
{
	const struct aqm *aqm = aqm_default();

	for (const struct option_spec *spec = aqm->options; option_exists(spec); spec++) {
		const uint64_t value = spec->size ? params_value(spec, params) : 0;

		ALWAYS(!spec->size ||
		       (value >= (uint64_t)spec->min && value <= (uint64_t)spec->max));
	}
	ALWAYS(params->limit >= 1 && params->limit <= DUALPI2_LIMIT_MAX);
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
	const struct aqm *aqm = aqm_default();
	const struct option_spec *spec;

	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		char shown[OPTION_TEXT_MAX], again[OPTION_TEXT_MAX];
		uint64_t value;

		if (!spec->name || !spec->size || !value_is_taken(spec) || spec->kind == KIND_SHARE)
			continue;
		value_show(spec, params_value(spec, params), shown);
		if (value_read(spec, shown, &value) != VALUE_OK)
			continue;
		if (spec->kind == KIND_OVERHEAD)
			value = (uint64_t)params->framing << 16 | (uint16_t)value;
		ALWAYS(!strcmp(value_show(spec, value, again), shown));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct aqm *aqm = aqm_default();
	struct dualpi2_params params = params_default(aqm);
	static struct command command;
	char *argv[ARGUMENTS_MAX + 1], text[OPTION_TEXT_MAX], why[PARAMS_WHY_MAX];
	char *line = fuzz_text(data, size);

	if (read_line(split(line, size, argv), argv, &command) && params_given(command.given) &&
	    params_apply(command.given, aqm, &params, why)) {
		check_ranges(&params);
		check_shown(&params);
		params_describe(command.given, true, aqm, &params, text, sizeof(text));
	}
	free(line);
	return 0;
}
