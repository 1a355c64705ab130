// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file of options: what is accepted means the same on the command line. */
#include "fuzz.h"

#include <getopt.h>
#include <stdio.h>

#include "cli/config.h"
#include "cli/message.h"
#include "cli/params.h"

static struct command command_of(struct option_group *group, const char **values)
{
	*group = (struct option_group){ "Parameters", param_specs, N_PARAMS, values, true, true };
	return (struct command){ "fuzz", "", "", "", group, 1 };
}

/* The options that were given, as arguments: getopt_long() permutes them, but reads no more
 * from them than the command line needs.
 */
static int to_arguments(const char *const values[N_PARAMS], char names[N_PARAMS][64], char **argv)
{
	int argc = 0;

	argv[argc++] = "fuzz";
	for (int i = 0; i < N_PARAMS; i++) {
		if (!values[i])
			continue;
		snprintf(names[i], sizeof(names[i]), "--%s", param_specs[i].name);
		argv[argc++] = names[i];
		if (param_specs[i].argument)
			argv[argc++] = (char *)values[i];
	}
	argv[argc] = NULL;
	return argc;
}

static void check_command_line(const char *const from_file[N_PARAMS])
{
	char names[N_PARAMS][64], *argv[2 * N_PARAMS + 2], why[PARAMS_WHY_MAX];
	struct dualpi2_params by_file = params_default(), by_line = by_file;
	const char *values[N_PARAMS] = {}, *interface;
	struct option_group group;
	const struct command command = command_of(&group, values);
	int argc = to_arguments(from_file, names, argv);
	enum status status;

	optind = 0; /* getopt starts anew */
	ALWAYS(command_read(&command, argc, argv, &interface, &status));
	ALWAYS(!interface);
	ALWAYS(params_apply(from_file, &by_file, why) == params_apply(values, &by_line, why));
	ALWAYS(!memcmp(&by_file, &by_line, sizeof(by_file)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *values[N_PARAMS] = {};
	struct option_group group;
	const struct command command = command_of(&group, values);
	char *text = fuzz_text(data, size);

	message_init("fuzz");
	if (config_parse(&command, "fuzz.conf", text, size))
		check_command_line(values);
	free(text);
	return 0;
}
