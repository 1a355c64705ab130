// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file of options: what is accepted means the same on the command line. */
#include "fuzz.h"

#include <getopt.h>
#include <stdio.h>

#include "aqm/params.h"
#include "cli/config.h"
#include "cli/message.h"

#define N_GROUPS 2
#define N_VALUES (N_PARAMS + AQM_OPTIONS_MAX)

static struct command command_of(struct option_group groups[N_GROUPS], struct param_values *values)
{
	const struct aqm *aqm = aqm_default();

	groups[0] =
		(struct option_group){ "All", common_params, N_PARAMS, values->common, true, true };
	groups[1] = (struct option_group){ "AQM",	   aqm->options, aqm->n_options,
					   values->own[0], true,	 true };
	return (struct command){ "fuzz", "", "", "", groups, N_GROUPS };
}

/* The options that were given, as arguments: getopt_long() permutes them, but reads no more
 * from them than the command line needs.
 */
static int to_arguments(const struct command *command, char names[N_VALUES][64], char **argv)
{
	int argc = 0, n = 0;

	argv[argc++] = "fuzz";
	for (size_t g = 0; g < command->n_groups; g++) {
		const struct option_group *group = &command->groups[g];

		for (size_t i = 0; i < group->count; i++) {
			if (!group->values[i])
				continue;
			snprintf(names[n], sizeof(names[n]), "--%s", group->specs[i].name);
			argv[argc++] = names[n++];
			if (value_is_taken(&group->specs[i]))
				argv[argc++] = (char *)group->values[i];
		}
	}
	argv[argc] = NULL;
	return argc;
}

static void check_command_line(const struct command *file, const struct param_values *from_file)
{
	char names[N_VALUES][64], *argv[2 * N_VALUES + 2], why[PARAMS_WHY_MAX];
	const struct aqm *aqm = aqm_default();
	struct dualpi2_params by_file = params_default(aqm), by_line = by_file;
	struct param_values values = {};
	struct option_group groups[N_GROUPS];
	const struct command command = command_of(groups, &values);
	int argc = to_arguments(file, names, argv);
	const char *interface;
	enum status status;

	optind = 0; /* getopt starts anew */
	ALWAYS(command_read(&command, argc, argv, &interface, &status));
	ALWAYS(!interface);
	ALWAYS(params_apply(from_file, aqm, &by_file, why) ==
	       params_apply(&values, aqm, &by_line, why));
	ALWAYS(!memcmp(&by_file, &by_line, sizeof(by_file)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct param_values values = {};
	struct option_group groups[N_GROUPS];
	const struct command command = command_of(groups, &values);
	char *text = fuzz_text(data, size);

	message_init("fuzz");
	if (config_parse(&command, "fuzz.conf", text, size))
		check_command_line(&command, &values);
	free(text);
	return 0;
}
