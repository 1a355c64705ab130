// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file of options: what is accepted means the same on the command line. */
#include "fuzz.h"

#include <getopt.h>
#include <stdio.h>

#include "aqm/params.h"
#include "cli/config.h"

static void start(struct command *command)
{
	*command = (struct command){ .name = "fuzz", .synopsis = "", .about = "", .epilogue = "" };
	memcpy(command->options, params_all(), PARAMS_MAX * sizeof(*command->options));
}

/* The options that were given, as arguments: getopt_long() permutes them, but reads no more
 * from them than the command line needs.
 */
static int to_arguments(const struct command *command, char names[PARAMS_MAX][64], char **argv)
{
	int argc = 0, n = 0;

	argv[argc++] = "fuzz";
	for (const struct option_spec *spec = command->options; option_exists(spec); spec++) {
		const char *text = command->given[spec - command->options].text;

		if (!text || option_named(command->options, spec->name) != spec)
			continue;
		snprintf(names[n], sizeof(names[n]), "--%s", spec->name);
		argv[argc++] = names[n++];
		if (value_is_taken(spec))
			argv[argc++] = (char *)text;
	}
	argv[argc] = NULL;
	return argc;
}

static void check_command_line(const struct command *file)
{
	char names[PARAMS_MAX][64], *argv[2 * PARAMS_MAX + 2], why[PARAMS_WHY_MAX];
	const struct aqm *aqm = aqm_default();
	struct dualpi2_params by_file = params_default(aqm), by_line = by_file;
	static struct command line;
	int argc = to_arguments(file, names, argv);
	enum status status;

	start(&line);
	optind = 0; /* getopt starts anew */
	ALWAYS(command_read(&line, argc, argv, &status));
	ALWAYS(params_apply(file->given, aqm, &by_file, why) ==
	       params_apply(line.given, aqm, &by_line, why));
	ALWAYS(!memcmp(&by_file, &by_line, sizeof(by_file)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct command egress, ingress;
	struct config_part parts[] = {
		{ .name = "egress", .command = &egress, .given = egress.given },
		{ .name = "ingress", .command = &ingress, .given = ingress.given },
		{},
	};
	char *text = fuzz_text(data, size);

	start(&egress);
	start(&ingress);
	if (config_parse(parts, "fuzz.conf", text, size)) {
		ALWAYS(parts[0].is_there || parts[1].is_there);
		check_command_line(&egress);
		check_command_line(&ingress);
	}
	free(text);
	return 0;
}
