// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/value.h"

#define OPTIONS_MAX 64 /* of one tool */

/* Column where the descriptions of the options begin. */
#define HELP_COLUMN 30
#define HELP_WIDTH 50
#define HELP_MAX 512 /* bytes of one description */

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

/* Print a text from a column on; `column` is where the line is now. */
static void print_wrapped(const char *text, int column)
{
	while (*text) {
		int fits = (int)strnlen(text, HELP_WIDTH);

		if (text[fits]) {
			while (text[fits] != ' ')
				fits--;
		}
		printf("%*s%.*s\n", HELP_COLUMN - column, "", fits, text);
		text += fits;
		text += *text == ' ';
		column = 0;
	}
}

/* Does a flag stand for the default of its member, whose own row is in the same group? */
static bool is_default(const struct option_group *group, const struct option_spec *flag)
{
	for (size_t i = 0; i < group->count && value_is_flag(flag); i++) {
		const struct option_spec *spec = &group->specs[i];

		if (spec->offset == flag->offset && spec->size && !value_is_flag(spec))
			return spec->value == flag->value;
	}
	return false;
}

static void print_option(const struct option_group *group, const struct option_spec *spec)
{
	char text[HELP_MAX], fallback[OPTION_TEXT_MAX];
	int column = 0;

	column += printf(spec->letter ? "  -%c, " : "      ", spec->letter);
	column += printf("--%s", spec->name);
	if (value_is_taken(spec))
		column += printf(" %s", value_argument(spec));
	if (column >= HELP_COLUMN) {
		printf("\n");
		column = 0;
	}
	if (value_has_default(spec))
		snprintf(text, sizeof(text), "%s (%s)", spec->help,
			 value_format(spec, spec->value, fallback));
	else
		snprintf(text, sizeof(text), "%s%s", spec->help,
			 is_default(group, spec) ? " (default)" : "");
	print_wrapped(text, column);
}

static void print_group(const struct option_group *group)
{
	printf("\n%s:\n", group->title);
	for (size_t i = 0; i < group->count; i++) {
		if (group->specs[i].name)
			print_option(group, &group->specs[i]);
	}
}

static void print_help(const struct command *command, const struct option_group *common)
{
	printf("Usage: %s %s\n\n%s", command->name, command->synopsis, command->about);
	for (size_t i = 0; i < command->n_groups; i++)
		print_group(&command->groups[i]);
	print_group(common);
	printf("\n%s", command->epilogue);
}

/* getopt_long answers ROW_ANSWER + n for row n of the tables, and because its letters
 * begin with '-', WORD_ANSWER for an argument that is not an option, in its place.
 */
#define ROW_ANSWER 256
#define WORD_ANSWER 1

/* What getopt_long works with, and where in the groups a row of it belongs. */
struct getopt_tables {
	struct option longs[OPTIONS_MAX];
	char shorts[OPTIONS_MAX + 3];
	struct option_group *group[OPTIONS_MAX];
	size_t index[OPTIONS_MAX];
	int count;
};

static bool has_name(const struct getopt_tables *tables, const char *name)
{
	for (int n = 0; n < tables->count; n++) {
		if (!strcmp(tables->longs[n].name, name))
			return true;
	}
	return false;
}

/* No option with a letter takes a value, so the letters alone make up `shorts`. */
static void add_group(struct getopt_tables *tables, struct option_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct option_spec *spec = &group->specs[i];
		char letter[] = { spec->letter, '\0' };
		int n = tables->count;

		if (!spec->name || has_name(tables, spec->name))
			continue;
		tables->count++;
		tables->longs[n] = (struct option){
			.name = spec->name,
			.has_arg = value_is_taken(spec) ? required_argument : no_argument,
			.val = ROW_ANSWER + n,
		};
		strcat(tables->shorts, letter);
		tables->group[n] = group;
		tables->index[n] = i;
	}
}

static const struct option_spec *row_spec(const struct getopt_tables *tables, int row)
{
	return &tables->group[row]->specs[tables->index[row]];
}

/* The row of the tables that getopt_long means. */
static int find_row(const struct getopt_tables *tables, int answer)
{
	int row = 0;

	if (answer >= ROW_ANSWER)
		return answer - ROW_ANSWER;
	while (row + 1 < tables->count && row_spec(tables, row)->letter != answer)
		row++;
	return row;
}

/* Is `word` this name, with underscores or hyphens? */
static bool is_name(const char *word, const char *name)
{
	for (; *word && *name; word++, name++) {
		if (*word != *name && !(*word == '_' && *name == '-'))
			return false;
	}
	return *word == *name;
}

static bool find_option(const struct option_group *group, const char *word, size_t *index)
{
	for (*index = 0; *index < group->count; (*index)++) {
		const char *name = group->specs[*index].name;

		if (name && is_name(word, name))
			return true;
	}
	return false;
}

/* Report a value, or the lack of one (NULL). */
static bool refuse_value(const struct option_spec *spec, const char *text, const char *reason)
{
	char example[OPTION_TEXT_MAX], range[OPTION_TEXT_MAX];
	const char *shown = "";

	if (text)
		shown = *text ? text : "''";
	return fail(0, "--%s%s%s: %s (for example %s; %s)", spec->name, text ? " " : "", shown,
		    reason, value_example(spec, example), value_range(spec, range));
}

static bool check_value(const struct option_spec *spec, const char *text)
{
	char reason[64];
	uint64_t value;

	switch (value_read(spec, text, &value)) {
	case VALUE_OK:
		return true;
	case VALUE_MALFORMED:
		snprintf(reason, sizeof(reason), "not %s", value_what(spec));
		return refuse_value(spec, text, reason);
	case VALUE_OUT_OF_RANGE:
		break;
	}
	return refuse_value(spec, text, "out of range");
}

/* The option that was given already and excludes `spec`, maybe itself; or NULL. */
static const struct option_spec *find_rival(const struct command *command,
					    const struct option_spec *spec)
{
	for (size_t g = 0; g < command->n_groups && spec->slot; g++) {
		const struct option_group *group = &command->groups[g];

		for (size_t i = 0; i < group->count; i++) {
			if (group->values[i] && group->specs[i].slot == spec->slot)
				return &group->specs[i];
		}
	}
	return NULL;
}

static bool take_flag(const struct command *command, const struct option_spec *spec,
		      const char **value)
{
	const struct option_spec *rival = find_rival(command, spec);

	if (rival == spec)
		return fail(0, "--%s: given twice", spec->name);
	if (rival)
		return fail(0, "--%s: excludes --%s: give one of them", spec->name, rival->name);
	*value = "";
	return true;
}

/* For all options of this name (struct option_group). */
static bool take_value(const struct command *command, const struct option_spec *spec,
		       const char *text)
{
	bool taken = false;

	for (size_t g = 0; g < command->n_groups; g++) {
		struct option_group *group = &command->groups[g];
		size_t index;
		uint64_t value;

		if (!find_option(group, spec->name, &index))
			continue;
		if (group->values[index])
			return refuse_value(spec, text, "given twice");
		group->values[index] = text;
		taken |= value_read(&group->specs[index], text, &value) == VALUE_OK;
	}
	return taken || check_value(spec, text);
}

static bool take_option(const struct command *command, struct option_group *group, size_t index,
			const char *text)
{
	const struct option_spec *spec = &group->specs[index];

	if (value_is_taken(spec))
		return take_value(command, spec, text);
	return take_flag(command, spec, &group->values[index]);
}

/* getopt_long did not like what it read last. */
static bool refuse_option(const struct getopt_tables *tables, int answer, const char *word,
			  const char *program)
{
	const struct option_spec *spec;

	if (optopt < ROW_ANSWER)
		return fail(0, "%s: no such option, or not enough of its name (see %s --help)",
			    word, program);
	spec = row_spec(tables, optopt - ROW_ANSWER);
	if (answer == ':')
		return refuse_value(spec, NULL, "a value is missing");
	return fail(0, "%s: --%s takes no value (see %s --help)", word, spec->name, program);
}

/* ---- tc's spelling ----------------------------------------------------------- */

/* An argument without dashes: the interface, then options in tc's spelling. */
static bool take_word(const struct command *command, int argc, char **argv, const char *word,
		      const char **interface)
{
	if (!*interface) {
		*interface = word;
		return true;
	}
	for (size_t g = 0; g < command->n_groups; g++) {
		struct option_group *group = &command->groups[g];
		size_t index;

		if (!group->as_words || !find_option(group, word, &index))
			continue;
		if (!value_is_taken(&group->specs[index]))
			return take_option(command, group, index, NULL);
		if (optind == argc)
			return refuse_value(&group->specs[index], NULL, "a value is missing");
		return take_option(command, group, index, argv[optind++]);
	}
	return fail(0, "%s: no such option, and one interface at a time (after %s; see %s --help)",
		    word, *interface, command->name);
}

/* ---- a line of a file ---------------------------------------------------------- */

bool command_take(const struct command *command, const char *name, const char *value)
{
	const size_t dashes = strncmp(name, "--", 2) ? 0 : 2;

	for (size_t g = 0; g < command->n_groups; g++) {
		struct option_group *group = &command->groups[g];
		const struct option_spec *spec;
		size_t index;

		if (!group->in_files || !find_option(group, name + dashes, &index))
			continue;
		spec = &group->specs[index];
		if (value_is_taken(spec) && !value)
			return refuse_value(spec, NULL, "a value is missing");
		if (!value_is_taken(spec) && value)
			return fail(0, "--%s %s: --%s takes no value", spec->name, value,
				    spec->name);
		return take_option(command, group, index, value);
	}
	return fail(0, "%s: no option that a file may have (see %s --help)", name, command->name);
}

/* ---- the whole line ------------------------------------------------------------ */

/* What getopt_long has found. */
static bool take_answer(const struct command *command, const struct getopt_tables *tables,
			int answer, int argc, char **argv, const char **interface)
{
	int row;

	if (answer == ':' || answer == '?')
		return refuse_option(tables, answer, argv[optind - 1], command->name);
	if (answer == WORD_ANSWER)
		return take_word(command, argc, argv, optarg, interface);
	row = find_row(tables, answer);
	return take_option(command, tables->group[row], tables->index[row], optarg);
}

static bool read_arguments(const struct command *command, const struct getopt_tables *tables,
			   int argc, char **argv, const char **interface)
{
	int answer;

	opterr = 0;
	while ((answer = getopt_long(argc, argv, tables->shorts, tables->longs, NULL)) != -1) {
		if (!take_answer(command, tables, answer, argc, argv, interface))
			return false;
	}
	while (optind < argc) { /* behind a `--` */
		const char *word = argv[optind++];

		if (!take_word(command, argc, argv, word, interface))
			return false;
	}
	return true;
}

/* True: --help or --version was asked for and is answered. */
static bool answer_common(const struct command *command, const struct option_group *common)
{
	if (common->values[OPT_HELP])
		print_help(command, common);
	else if (common->values[OPT_VERSION])
		printf("%s %s\n", command->name, DUALPI2_VERSION);
	else
		return false;
	return true;
}

bool command_read(const struct command *command, int argc, char **argv, const char **interface,
		  enum status *status)
{
	const char *values[N_COMMON] = {};
	struct option_group common = { "General", common_specs, N_COMMON, values, false, false };
	struct getopt_tables tables = { .shorts = "-:" };

	for (size_t i = 0; i < command->n_groups; i++)
		add_group(&tables, &command->groups[i]);
	add_group(&tables, &common);

	*interface = NULL;
	*status = STATUS_USAGE;
	if (!read_arguments(command, &tables, argc, argv, interface))
		return false;
	*status = STATUS_OK;
	if (values[OPT_VERBOSE])
		message_set_verbose();
	return !answer_common(command, &common);
}
