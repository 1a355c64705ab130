// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/value.h"

/* Column where the descriptions of the options begin. */
#define HELP_COLUMN 30
#define HELP_WIDTH 50
#define HELP_MAX 512 /* bytes of one description */
#define EXAMPLES "EXAMPLES\n"
#define EXAMPLES_USUAL 5 /* lines of them that are shown with the usual options */

/* Print a text from a column on; `column` is where the line is now. */
static void print_wrapped(const char *text, int column)
{
	while (*text) {
		int length;
		const char *next = format_line(text, HELP_WIDTH, &length);

		printf("%*s%.*s\n", HELP_COLUMN - column, "", length, text);
		text = next;
		column = 0;
	}
}

/* Print an option. Returns the column where the line is then, before its description. */
static int print_name(const struct option_spec *spec)
{
	int column = 0;

	column += printf(spec->letter ? "  -%c, " : "      ", spec->letter);
	column += printf("--%s", spec->name);
	if (value_is_taken(spec))
		column += printf(" %s", value_argument(spec));
	/* Two spaces at least: completion tells by them where a description begins. */
	if (column > HELP_COLUMN - 2) {
		printf("\n");
		column = 0;
	}
	return column;
}

static void print_option(const struct command *command, const struct option_spec *spec)
{
	const bool is_default = option_is_flag(spec) && option_is_default(command->options, spec);
	char text[HELP_MAX], fallback[OPTION_TEXT_MAX];
	const int column = print_name(spec);

	if (value_has_default(spec))
		snprintf(text, sizeof(text), "%s (%s)", spec->help,
			 value_format(spec, spec->value, fallback));
	else
		snprintf(text, sizeof(text), "%s%s", spec->help, is_default ? " (default)" : "");
	print_wrapped(text, column);
}

static void print_section(const struct command *command, const char *heading)
{
	const size_t title = strcspn(heading, "\n");

	printf("\n%.*s:\n", (int)title, heading);
	if (heading[title])
		print_wrapped(heading + title + 1, 0);
	for (const struct option_spec *spec = command->options; option_exists(spec); spec++) {
		if (spec->name && !strcmp(spec->heading, heading))
			print_option(command, spec);
	}
}

/* ---- of it, the usual ---------------------------------------------------------- */

/* How long the first clause of a description is, which says what the option does. */
static size_t clause_length(const char *text)
{
	size_t length = 0;

	while (text[length] && !(strchr(";:.", text[length]) && text[length + 1] == ' '))
		length++;
	return length;
}

static void print_usual_option(const struct option_spec *spec)
{
	char text[HELP_MAX];
	const int column = print_name(spec);

	snprintf(text, sizeof(text), "%.*s", (int)clause_length(spec->help), spec->help);
	print_wrapped(text, column);
}

/* The first of the examples, with which each epilogue ends. */
static void print_usual_examples(const char *epilogue)
{
	const char *const begin = strstr(epilogue, EXAMPLES), *end = begin + strlen(EXAMPLES);

	for (int i = 0; *end && i < EXAMPLES_USUAL; i++)
		end = strchr(end, '\n') + 1;
	printf("\n%.*s", (int)(end - begin), begin);
}

static void print_usual(const struct command *command)
{
	printf("\nUsual options:\n");
	for (const char *const *name = command->usual; *name; name++)
		print_usual_option(option_named(command->options, *name));
	print_usual_examples(command->epilogue);
	printf("\n`%s --help " HELP_ALL "` shows all options, `man %s` explains them.\n",
	       command->name, command->name);
}

static void print_all(const struct command *command)
{
	for (const char *const *heading = command->headings; *heading; heading++)
		print_section(command, *heading);
	print_section(command, HELP_GENERAL);
	printf("\n%s", command->epilogue);
}

void help_print(const struct command *command)
{
	printf("Usage: %s %s\n\n%s", command->name, command->synopsis, command->about);
	if (*command->usual && !command->is_all_asked)
		print_usual(command);
	else
		print_all(command);
}
