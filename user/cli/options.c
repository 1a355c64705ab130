// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/value.h"

#define GENERAL "General"
#define SEE_HELP " (see %s --help)"

/* Column where the descriptions of the options begin. */
#define HELP_COLUMN 30
#define HELP_WIDTH 50
#define HELP_MAX 512 /* bytes of one description */

static const struct option_spec general[OPTIONS_GENERAL] = {
	{ "help", GENERAL, "show this text", .letter = 'h' },
	{ "version", GENERAL, "show the version", .letter = 0 },
	{ "verbose", GENERAL, "show every step, errno and libbpf's messages", .letter = 'v' },
};

/* The first option of this name that may stand in this place (0: on the command line). */
static struct option_spec *find_option(struct option_spec *options, const char *word,
				       unsigned int place)
{
	for (; option_exists(options); options++) {
		if (options->name && is_spelling_of(word, options->name) &&
		    (options->places & place) == place)
			return options;
	}
	return NULL;
}

/* ---- help ---------------------------------------------------------------------- */

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

static void print_option(const struct command *command, const struct option_spec *spec)
{
	const bool is_default = option_is_flag(spec) && option_is_default(command->options, spec);
	char text[HELP_MAX], fallback[OPTION_TEXT_MAX];
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

static void print_help(const struct command *command)
{
	printf("Usage: %s %s\n\n%s", command->name, command->synopsis, command->about);
	for (const char *const *heading = command->headings; *heading; heading++)
		print_section(command, *heading);
	print_section(command, GENERAL);
	printf("\n%s", command->epilogue);
}

/* ---- an option that was found -------------------------------------------------- */

/* Report a value, or the lack of one (NULL). */
static bool refuse_value(const struct option_spec *spec, const char *text, const char *reason)
{
	char example[OPTION_TEXT_MAX], range[OPTION_TEXT_MAX];
	const char *shown = "";

	if (text)
		shown = *text ? text : "''";
	return fail(0, "%s%s%s%s: %s (for example %s; %s)", spec->is_word ? "" : "--", spec->name,
		    text ? " " : "", shown, reason, value_example(spec, example),
		    value_range(spec, range));
}

static bool refuse_wrong(const struct option_spec *spec, const char *text)
{
	char reason[OPTION_TEXT_MAX + 16], bare[OPTION_TEXT_MAX];
	uint64_t value;

	if (value_read(spec, text, &value) != VALUE_OUT_OF_RANGE)
		snprintf(reason, sizeof(reason), "not %s", value_what(spec));
	else if (value_bare(spec, text, bare))
		snprintf(reason, sizeof(reason), "%s is out of range", bare);
	else
		return refuse_value(spec, text, "out of range");
	return refuse_value(spec, text, reason);
}

bool option_read(const struct option_spec *spec, const char *text, uint64_t *value)
{
	return value_read(spec, text, value) == VALUE_OK || refuse_wrong(spec, text);
}

/* A flag excludes others of its slot. */
static bool check_flag(const struct command *command, const struct option_spec *flag)
{
	for (const struct option_spec *rival = command->options; flag->slot && option_exists(rival);
	     rival++) {
		if (!rival->given || rival->slot != flag->slot || rival->aqm != flag->aqm)
			continue;
		if (rival == flag)
			return fail(0, "--%s: given twice: give it once", flag->name);
		return fail(0, "--%s: excludes --%s: give one of them", flag->name, rival->name);
	}
	return true;
}

/* What was given before, if anything, and `text`. */
static const char *add_text(const char *before, const char *text)
{
	char *both;

	if (!before)
		return text;
	/* Kept until we exit, as the arguments are. */
	return asprintf(&both, "%s,%s", before, text) < 0 ? text : both;
}

/* For all options of this name. `text`: NULL if there is no value. */
static bool take_option(struct command *command, const struct option_spec *spec, const char *text)
{
	const bool has_value = value_is_taken(spec);
	bool taken = !has_value;
	uint64_t value;

	if (has_value && !text)
		return refuse_value(spec, NULL, "a value is missing");
	for (struct option_spec *other = command->options; option_exists(other); other++) {
		if (!other->name || strcmp(other->name, spec->name))
			continue;
		if (has_value && other->given && !other->many)
			return fail(0, "--%s %s: given twice: give it once", spec->name, text);
		if (!has_value && !check_flag(command, other))
			return false;
		other->given = has_value ? add_text(other->given, text) : "";
		taken = taken || value_read(other, text, &value) == VALUE_OK;
	}
	return taken || refuse_wrong(spec, text);
}

void command_settle(struct command *command)
{
	for (struct option_spec *spec = command->options; option_exists(spec); spec++)
		spec->is_settled = spec->given;
}

/* Has the command line said it, or something else in its place? */
static bool is_settled(const struct command *command, const struct option_spec *spec)
{
	for (const struct option_spec *other = command->options; option_exists(other); other++) {
		const bool is_same = other->name && !strcmp(other->name, spec->name);
		const bool is_rival =
			spec->slot && other->slot == spec->slot && other->aqm == spec->aqm;

		if (other->is_settled && (is_same || is_rival))
			return true;
	}
	return false;
}

bool command_take(struct command *command, const char *name, const char *value)
{
	const size_t dashes = strncmp(name, "--", 2) ? 0 : 2;
	const struct option_spec *spec = find_option(command->options, name + dashes, PLACE_FILE);
	char text[GUESS_MAX];

	if (!spec)
		return fail(0, "%s: no option that a file may have%s" SEE_HELP, name,
			    guess(command->options, command->strangers, name, PLACE_FILE, text),
			    command->name);
	if (!value_is_taken(spec) && value)
		return fail(0, "--%s %s: --%s takes no value%s", spec->name, value, spec->name,
			    guess(command->options, command->strangers, value, PLACE_FILE, text));
	return is_settled(command, spec) || take_option(command, spec, value);
}

/* ---- the command line ------------------------------------------------------------ */

/* getopt_long answers ROW_ANSWER + n for row n of the table, and because its letters
 * begin with '-', WORD_ANSWER for an argument that is not an option, in its place.
 */
#define ROW_ANSWER 256
#define WORD_ANSWER 1

/* What getopt_long works with. No option with a letter takes a value, so the letters alone make
 * up `shorts`.
 */
struct getopt_tables {
	struct option longs[OPTIONS_MAX];
	char shorts[OPTIONS_MAX + 3];
};

static void make_tables(struct command *command, struct getopt_tables *tables)
{
	struct option *row = tables->longs;

	*tables = (struct getopt_tables){};
	strcpy(tables->shorts, command->has_rest ? "+:" : "-:");
	for (struct option_spec *spec = command->options; option_exists(spec); spec++) {
		if (!spec->name)
			continue;
		/* Of one name: of one answer, or getopt_long() finds a beginning of it ambiguous.
		 */
		*row++ = (struct option){
			.name = spec->name,
			.has_arg = value_is_taken(spec) ? required_argument : no_argument,
			.val = ROW_ANSWER + (int)(find_option(command->options, spec->name, 0) -
						  command->options),
		};
		strcat(tables->shorts, (const char[]){ spec->letter, '\0' });
	}
}

/* The option that getopt_long means. */
static const struct option_spec *answered(const struct command *command, int answer)
{
	const struct option_spec *spec = command->options;

	if (answer >= ROW_ANSWER)
		return &spec[answer - ROW_ANSWER];
	while (spec->letter != answer)
		spec++;
	return spec;
}

/* getopt_long did not like what it read last. */
static bool refuse_option(struct command *command, int answer, const char *word)
{
	const struct option_spec *spec;
	char text[GUESS_MAX];

	if (optopt && optopt < ROW_ANSWER)
		return fail(0, "-%c: no such option; long ones begin with --" SEE_HELP, optopt,
			    command->name);
	if (!optopt)
		return fail(0, "%s: no such option, or not enough of its name%s" SEE_HELP, word,
			    guess(command->options, command->strangers, word, 0, text),
			    command->name);
	spec = answered(command, optopt);
	if (answer == ':')
		return take_option(command, spec, NULL);
	return fail(0, "%s: --%s takes no value%s" SEE_HELP, word, spec->name,
		    guess(command->options, command->strangers, strchr(word, '=') + 1, 0, text),
		    command->name);
}

/* The place of the next word; the last one that was given is `last`, or NULL. */
static struct option_spec *next_word(struct command *command, const struct option_spec **last)
{
	struct option_spec *next = command->words;

	for (*last = NULL; option_exists(next) && next->given; next++)
		*last = next;
	return next;
}

/* An argument without dashes: a word, or an option in tc's spelling. */
static bool take_word(struct command *command, int argc, char **argv, const char *word)
{
	const struct option_spec *last, *spec;
	struct option_spec *next = next_word(command, &last);
	char text[GUESS_MAX];
	const char *odd;
	uint64_t value;

	if (option_exists(next)) {
		next->given = word;
		return value_read(next, word, &value) == VALUE_OK || refuse_wrong(next, word);
	}
	if (!last)
		return fail(0, "%s: %s takes no argument" SEE_HELP, word, command->name,
			    command->name);
	spec = find_option(command->options, word, PLACE_WORD);
	odd = answer_to(command->strangers, last->given) ? last->given : word;
	if (!spec)
		return fail(0, "%s: unexpected argument after %s%s" SEE_HELP, word, last->given,
			    guess(command->options, command->strangers, odd, 0, text),
			    command->name);
	return take_option(command, spec,
			   value_is_taken(spec) && optind < argc ? argv[optind++] : NULL);
}

static bool read_arguments(struct command *command, int argc, char **argv)
{
	struct getopt_tables tables;
	bool taken = true;
	int answer;

	make_tables(command, &tables);
	opterr = 0;
	while (taken &&
	       (answer = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		if (answer == ':' || answer == '?')
			return refuse_option(command, answer, argv[optind - 1]);
		if (answer == WORD_ANSWER)
			taken = take_word(command, argc, argv, optarg);
		else
			taken = take_option(command, answered(command, answer), optarg);
	}
	if (command->has_rest) {
		command->rest = argv + optind;
		return taken;
	}
	while (taken && optind < argc) /* behind a `--` */
		taken = take_word(command, argc, argv, argv[optind++]);
	return taken;
}

static bool options_agree(const struct command *command)
{
	for (const struct option_spec *one = command->options; option_exists(one); one++) {
		for (size_t i = 0; one->given && one->excludes >> i; i++) {
			const struct option_spec *other = &command->options[i];

			if (one->excludes >> i & 1 && other->given)
				return fail(0, "--%s: excludes --%s: give one of them", one->name,
					    other->name);
		}
	}
	return true;
}

static bool words_suffice(const struct command *command)
{
	for (const struct option_spec *word = command->words; option_exists(word); word++) {
		if (word->is_needed && !word->given)
			return fail(0, "%s is missing" SEE_HELP, value_what(word), command->name);
	}
	return true;
}

const char *tool_version(void)
{
	return DUALPI2_VERSION;
}

const char *command_given(const struct command *command, const char *name)
{
	for (const struct option_spec *word = command->words; option_exists(word); word++) {
		if (!strcmp(word->name, name))
			return word->given;
	}
	return option_named(command->options, name)->given;
}

bool command_read(struct command *command, int argc, char **argv, enum status *status)
{
	struct option_spec *end = command->options;

	while (option_exists(end))
		end++;
	memcpy(end, general, sizeof(general));

	*status = STATUS_USAGE;
	if (!read_arguments(command, argc, argv))
		return false;
	*status = STATUS_OK;
	if (option_named(command->options, "verbose")->given)
		message_set_verbose();
	if (option_named(command->options, "help")->given)
		print_help(command);
	else if (option_named(command->options, "version")->given)
		printf("%s %s\n", command->name, tool_version());
	else if (!options_agree(command) || !words_suffice(command))
		*status = STATUS_USAGE;
	else
		return true;
	return false;
}
