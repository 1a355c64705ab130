// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX 48 /* long and short forms of one tool */

/* Column where the descriptions of the options begin. */
#define HELP_COLUMN 30

enum common_option {
	OPT_HELP,
	OPT_VERSION,
	OPT_VERBOSE,
	N_COMMON,
};

static const struct option_spec common_specs[N_COMMON] = {
	[OPT_HELP] = { .name = "help", .letter = 'h', .help = "show this text" },
	[OPT_VERSION] = { .name = "version", .help = "show the version" },
	[OPT_VERBOSE] = { .name = "verbose",
			  .letter = 'v',
			  .help = "show every step, errno and libbpf's messages" },
};

static void print_option(const struct option_spec *spec)
{
	const char *line = spec->help;
	int column = 0;

	column += printf(spec->letter ? "  -%c, " : "      ", spec->letter);
	column += printf("--%s", spec->name);
	if (spec->argument)
		column += printf(" %s", spec->argument);
	if (column >= HELP_COLUMN) {
		printf("\n");
		column = 0;
	}
	while (line) {
		const char *end = strchr(line, '\n');
		int len = end ? (int)(end - line) : (int)strlen(line);

		printf("%*s%.*s\n", HELP_COLUMN - column, "", len, line);
		line = end ? end + 1 : NULL;
		column = 0;
	}
}

static void print_group(const struct option_group *group)
{
	printf("\n%s:\n", group->title);
	for (size_t i = 0; i < group->count; i++)
		print_option(&group->specs[i]);
}

static void print_help(const struct command *command, const struct option_group *common)
{
	printf("Usage: %s %s\n\n%s", command->name, command->synopsis, command->about);
	for (size_t i = 0; i < command->n_groups; i++)
		print_group(&command->groups[i]);
	print_group(common);
	printf("\n%s", command->epilogue);
}

/* getopt_long answers ROW_ANSWER + n for row n of the tables. */
#define ROW_ANSWER 256

/* What getopt_long works with, and where in the groups a row of it belongs. */
struct getopt_tables {
	struct option longs[OPTIONS_MAX];
	char shorts[2 * OPTIONS_MAX + 2];
	struct option_group *group[OPTIONS_MAX];
	size_t index[OPTIONS_MAX];
	int count;
};

/* No option with a letter takes a value, so the letters alone make up `shorts`. */
static void add_group(struct getopt_tables *tables, struct option_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct option_spec *spec = &group->specs[i];
		char letter[] = { spec->letter, '\0' };
		int n = tables->count++;

		tables->longs[n] = (struct option){
			.name = spec->name,
			.has_arg = spec->argument ? required_argument : no_argument,
			.val = ROW_ANSWER + n,
		};
		strcat(tables->shorts, letter);
		tables->group[n] = group;
		tables->index[n] = i;
	}
}

/* The row of the tables that getopt_long means. */
static int find_row(const struct getopt_tables *tables, int answer)
{
	int row = 0;

	if (answer >= ROW_ANSWER)
		return answer - ROW_ANSWER;
	while (tables->group[row]->specs[tables->index[row]].letter != answer)
		row++;
	return row;
}

static bool check_value(const struct option_spec *spec, const char *text)
{
	struct dualpi2_params scratch = {};

	switch (spec->set(text, &scratch)) {
	case VALUE_OK:
		return true;
	case VALUE_MALFORMED:
		return fail(0, "--%s %s: not %s (for example %s; %s)", spec->name, text, spec->kind,
			    spec->example, spec->range);
	case VALUE_OUT_OF_RANGE:
		break;
	}
	return fail(0, "--%s %s: out of range (for example %s; %s)", spec->name, text,
		    spec->example, spec->range);
}

static bool take_option(struct option_group *group, size_t index, const char *text)
{
	const struct option_spec *spec = &group->specs[index];

	if (spec->argument && group->values[index])
		return fail(0, "--%s is given twice (%s and %s)", spec->name, group->values[index],
			    text);
	group->values[index] = spec->argument ? text : "";
	return !spec->argument || check_value(spec, text);
}

/* getopt_long did not like what it read last. */
static bool refuse_option(const struct getopt_tables *tables, int answer, const char *word,
			  const char *program)
{
	if (answer == ':')
		return fail(0, "%s: a value is missing (see %s --help)", word, program);
	if (optopt >= ROW_ANSWER)
		return fail(0, "%s: --%s takes no value (see %s --help)", word,
			    tables->longs[optopt - ROW_ANSWER].name, program);
	return fail(0, "%s: no such option, or not enough of its name (see %s --help)", word,
		    program);
}

static bool read_options(struct getopt_tables *tables, int argc, char **argv, const char *program)
{
	int answer, row;

	opterr = 0;
	while ((answer = getopt_long(argc, argv, tables->shorts, tables->longs, NULL)) != -1) {
		if (answer == ':' || answer == '?')
			return refuse_option(tables, answer, argv[optind - 1], program);
		row = find_row(tables, answer);
		if (!take_option(tables->group[row], tables->index[row], optarg))
			return false;
	}
	return true;
}

enum command_result command_read(const struct command *command, int argc, char **argv,
				 const char **interface)
{
	const char *values[N_COMMON] = {};
	struct option_group common = { "General", common_specs, N_COMMON, values };
	struct getopt_tables tables = { .shorts = ":" };

	for (size_t i = 0; i < command->n_groups; i++)
		add_group(&tables, &command->groups[i]);
	add_group(&tables, &common);

	if (!read_options(&tables, argc, argv, command->name))
		return COMMAND_WRONG;
	if (values[OPT_HELP]) {
		print_help(command, &common);
		return COMMAND_DONE;
	}
	if (values[OPT_VERSION]) {
		printf("%s %s\n", command->name, DUALPI2_VERSION);
		return COMMAND_DONE;
	}
	if (values[OPT_VERBOSE])
		message_set_verbose();
	if (argc - optind > 1) {
		fail(0, "%s: one interface at a time (after %s)", argv[optind + 1], argv[optind]);
		return COMMAND_WRONG;
	}
	*interface = argv[optind];
	return COMMAND_RUN;
}
