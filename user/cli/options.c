// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/value.h"

#define SEE_HELP " (see %s --help)"

static const struct option_spec general[OPTIONS_GENERAL] = {
	{ "help", HELP_GENERAL, "show this text; `--help all`: with all options", .letter = 'h' },
	{ "version", HELP_GENERAL, "show the version", .letter = 0 },
	{ "verbose", HELP_GENERAL, "show every step, errno and libbpf's messages", .letter = 'v' },
};

/* The first option of this name that may stand in this place (0: on the command line). */
static const struct option_spec *find_option(const struct option_spec *options, const char *word,
					     unsigned int place)
{
	for (; option_exists(options); options++) {
		if (options->name && is_spelling_of(word, options->name) &&
		    (options->places & place) == place)
			return options;
	}
	return NULL;
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
static bool check_flag(const struct command *command, const struct option_given *given,
		       const struct option_spec *flag)
{
	for (const struct option_spec *rival = command->options; flag->slot && option_exists(rival);
	     rival++) {
		if (!given[rival - command->options].text || rival->slot != flag->slot ||
		    rival->aqm != flag->aqm)
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

/* Read what was given for a row. `text`: NULL if it takes no value. */
static void read_given(const struct option_spec *spec, const char *text, struct option_given *given)
{
	given->text = text ? add_text(given->text, text) : "";
	given->value = spec->value;
	given->is_read = !text || value_read(spec, text, &given->value) == VALUE_OK;
}

/* For all options of this name. `text`: NULL if there is no value. */
static bool take_option(const struct command *command, struct option_given *given,
			const struct option_spec *spec, const char *text)
{
	const bool has_value = value_is_taken(spec);
	bool taken = false;

	if (has_value && !text)
		return refuse_value(spec, NULL, "a value is missing");
	for (const struct option_spec *other = command->options; option_exists(other); other++) {
		struct option_given *one = &given[other - command->options];

		if (!other->name || strcmp(other->name, spec->name))
			continue;
		if (has_value && one->text && !other->many)
			return fail(0, "--%s %s: given twice: give it once", spec->name, text);
		if (!has_value && !check_flag(command, given, other))
			return false;
		read_given(other, has_value ? text : NULL, one);
		taken |= one->is_read;
	}
	return taken || refuse_wrong(spec, text);
}

/* Has the command line said it, or something else in its place? */
static bool is_settled(const struct command *command, const struct option_given *given,
		       const struct option_spec *spec)
{
	for (const struct option_spec *other = command->options; option_exists(other); other++) {
		const bool is_same = other->name && !strcmp(other->name, spec->name);
		const bool is_rival =
			spec->slot && other->slot == spec->slot && other->aqm == spec->aqm;

		if (given[other - command->options].is_settled && (is_same || is_rival))
			return true;
	}
	return false;
}

bool command_take(const struct command *command, struct option_given *given, const char *name,
		  const char *value)
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
	return is_settled(command, given, spec) || take_option(command, given, spec, value);
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

static void make_tables(const struct command *command, struct getopt_tables *tables)
{
	struct option *row = tables->longs;

	*tables = (struct getopt_tables){};
	strcpy(tables->shorts, command->has_rest ? "+:" : "-:");
	for (const struct option_spec *spec = command->options; option_exists(spec); spec++) {
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
		return take_option(command, command->given, spec, NULL);
	return fail(0, "%s: --%s takes no value%s" SEE_HELP, word, spec->name,
		    guess(command->options, command->strangers, strchr(word, '=') + 1, 0, text),
		    command->name);
}

/* How many words were given. */
static size_t count_words(const struct command *command)
{
	size_t count = 0;

	while (option_exists(&command->words[count]) && command->given_words[count].text)
		count++;
	return count;
}

/* An argument without dashes: a word, or an option in tc's spelling. */
static bool take_word(struct command *command, int argc, char **argv, const char *word)
{
	const size_t count = count_words(command);
	const struct option_spec *next = &command->words[count], *spec;
	struct option_given *given = &command->given_words[count];
	const char *last, *odd;
	char text[GUESS_MAX];

	if (option_exists(next)) {
		read_given(next, word, given);
		return given->is_read || refuse_wrong(next, word);
	}
	if (!count)
		return fail(0, "%s: %s takes no argument" SEE_HELP, word, command->name,
			    command->name);
	spec = find_option(command->options, word, PLACE_WORD);
	last = given[-1].text;
	odd = answer_to(command->strangers, last) ? last : word;
	if (!spec)
		return fail(0, "%s: unexpected argument after %s%s" SEE_HELP, word, last,
			    guess(command->options, command->strangers, odd, 0, text),
			    command->name);
	return take_option(command, command->given, spec,
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
		if (answer == WORD_ANSWER && command_given(command, "help") &&
		    !strcmp(optarg, HELP_ALL))
			command->is_all_asked = true;
		else if (answer == WORD_ANSWER)
			taken = take_word(command, argc, argv, optarg);
		else
			taken = take_option(command, command->given, answered(command, answer),
					    optarg);
	}
	if (command->has_rest) {
		command->rest = argv + optind;
		return taken;
	}
	command->is_literal = !count_words(command);
	while (taken && optind < argc) /* behind a `--` */
		taken = take_word(command, argc, argv, argv[optind++]);
	return taken;
}

static bool options_agree(const struct command *command)
{
	const struct option_given *given = command->given;

	for (const struct option_spec *one = command->options; option_exists(one); one++, given++) {
		for (size_t i = 0; given->text && one->excludes >> i; i++) {
			if (one->excludes >> i & 1 && command->given[i].text)
				return fail(0, "--%s: excludes --%s: give one of them", one->name,
					    command->options[i].name);
		}
	}
	return true;
}

static bool words_suffice(const struct command *command)
{
	const struct option_given *given = command->given_words;

	for (const struct option_spec *word = command->words; option_exists(word);
	     word++, given++) {
		if (word->is_needed && !given->text)
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
			return command->given_words[word - command->words].text;
	}
	return command->given[option_named(command->options, name) - command->options].text;
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
	for (size_t i = 0; i < OPTIONS_MAX; i++)
		command->given[i].is_settled = command->given[i].text;
	*status = STATUS_OK;
	if (command_given(command, "verbose"))
		message_set_verbose();
	if (command_given(command, "help"))
		help_print(command);
	else if (command_given(command, "version"))
		printf("%s %s\n", command->name, tool_version());
	else if (!options_agree(command) || !words_suffice(command))
		*status = STATUS_USAGE;
	else
		return true;
	return false;
}
