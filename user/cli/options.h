/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of both tools: one table of options drives getopt_long, tc's
 * spelling, the help text and the messages about bad input.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "dualpi2.h"
#include "cli/message.h"

/* Enough for what the `format` of any option writes, with its terminator. */
#define OPTION_TEXT_MAX 320

enum value_status {
	VALUE_OK,
	VALUE_MALFORMED,
	VALUE_OUT_OF_RANGE,
};

struct option_spec {
	const char *name;     /* without the dashes */
	char letter;	      /* short form, or 0 */
	const char *argument; /* what the help text calls the value; NULL: takes none */
	const char *help;     /* lines of up to 50 characters */
	unsigned int slot;    /* not 0: of the options with this number only one may be given */

	/* Only of options with a value. Without `set` any text is one, but an empty one. */
	const char *kind;    /* "a time": what the value has to be; only with `set` */
	const char *example; /* "15ms" */
	const char *range;   /* "0us to 4294s" */

	/* Only of parameters of the qdisc. `set` stores the value, or what an option
	 * without one stands for; what it stores is of no use unless it returns VALUE_OK.
	 * `format` writes the value for people, with its unit (OPTION_TEXT_MAX bytes), and
	 * returns it; NULL where there is no value to be shown.
	 */
	enum value_status (*set)(const char *text, struct dualpi2_params *params);
	const char *(*format)(const struct dualpi2_params *params, char *text);
};

/* Options under one heading of the help text. */
struct option_group {
	const char *title;
	const struct option_spec *specs;
	size_t count;
	/* Out, `count` texts: NULL is "not given"; an option without a value has "". */
	const char **values;
	bool as_words; /* `step_thresh 1ms`, as tc spells it, means `--step-thresh 1ms` */
	bool in_files; /* may also come from a file (config.h) */
};

struct command {
	const char *name;
	const char *synopsis; /* of the arguments */
	const char *about;
	const char *epilogue; /* ends with EXAMPLES */
	struct option_group *groups;
	size_t n_groups;
};

/* Read the command line. `interface`: the first argument that is not an option, or
 * NULL. --help, --version and --verbose are understood without being in a group.
 * False: the tool has nothing to do but to exit with `status`, because bad input was
 * reported, or --help or --version answered.
 */
bool command_read(const struct command *command, int argc, char **argv, const char **interface,
		  enum status *status);

/* Take one option from a file, with or without the dashes or in tc's spelling. `value`: NULL if
 * there is none. False: it was reported what is wrong.
 */
bool command_take(const struct command *command, const char *name, const char *value);

#endif /* OPTIONS_H */
