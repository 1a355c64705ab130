// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/subcommand.h"

#include <stdio.h>
#include <string.h>

#include "cli/guess.h"

static void print_help(const struct tool *tool)
{
	printf("Usage: %s COMMAND [OPTIONS]\n\n%s\nCommands:\n", tool->name, tool->about);
	for (const struct subcommand *one = tool->subcommands; one->name; one++)
		printf("      %-24s%s\n", one->name, one->about);
	printf("\n`%s COMMAND --help` shows the options of a command.\n\nEXAMPLES\n%s", tool->name,
	       tool->examples);
}

static const struct subcommand *find(const struct tool *tool, const char *name)
{
	for (const struct subcommand *one = tool->subcommands; one->name; one++) {
		if (!strcmp(name, one->name))
			return one;
	}
	return NULL;
}

/* The one that may be meant; NULL: none. */
static const struct subcommand *nearest(const struct tool *tool, const char *word)
{
	const struct subcommand *found = NULL;
	unsigned int fewest = SLIPS_TOO_MANY;

	for (const struct subcommand *one = tool->subcommands; one->name; one++) {
		if (is_nearer(word, one->name, &fewest))
			found = one;
	}
	return found;
}

/* The first argument is none of them. */
static enum status answer_other(const struct tool *tool, const char *word)
{
	const struct subcommand *meant;

	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		print_help(tool);
		return STATUS_OK;
	}
	if (!strcmp(word, "--version")) {
		printf("%s %s\n", tool->name, tool_version());
		return STATUS_OK;
	}
	meant = nearest(tool, word);
	fail(0, "%s: no such command%s%s%s (see %s --help)", word, meant ? ": did you mean " : "",
	     meant ? meant->name : "", meant ? "?" : "", tool->name);
	return STATUS_USAGE;
}

int tool_run(const struct tool *tool, int argc, char **argv)
{
	const struct subcommand *subcommand;
	enum status status;

	if (argc < 2) {
		fail(0, "a command is missing (see %s --help)", tool->name);
		return STATUS_USAGE;
	}
	subcommand = find(tool, argv[1]);
	if (!subcommand)
		return answer_other(tool, argv[1]);
	if (!command_read(subcommand->command, argc - 1, argv + 1, &status))
		return status;
	return subcommand->run(subcommand->command) ? STATUS_OK : message_status();
}
