/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a tool, or one of its commands, takes and says of itself: the table that options.h reads a
 * command line by, and help.h prints.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/guess.h"
#include "cli/spec.h"

#define OPTIONS_MAX 320	  /* rows of a table, with the end and those that all tools have */
#define OPTIONS_GENERAL 4 /* of these: the end, and what all tools have */
#define HEADINGS_MAX 32
#define WORDS_MAX 3  /* with the end */
#define USUAL_MAX 20 /* with the end */

struct command {
	const char *name;
	const char *synopsis; /* of the arguments */
	const char *about;
	const char *epilogue;		    /* ends with EXAMPLES */
	const char *headings[HEADINGS_MAX]; /* in the order of --help; then NULL */

	/* The options that --help shows, with the first clause of what each does; then NULL.
	 * `--help all` shows everything. None: as --help does.
	 */
	const char *usual[USUAL_MAX];
	bool is_all_asked; /* `--help all` was given */

	/* The arguments that are no options, in their order. Those behind them are options in tc's
	 * spelling.
	 */
	struct option_spec words[WORDS_MAX];
	struct option_given given_words[WORDS_MAX];
	bool is_literal; /* the first of them stands behind a `--` */

	/* Does a command line of somebody else follow? Then its first word ends ours, and `rest`
	 * begins with it.
	 */
	bool has_rest;
	char **rest;

	/* Several may have the same name: then a value is for all of them, and one that none of
	 * them takes is refused.
	 */
	struct option_spec options[OPTIONS_MAX];
	struct option_given given[OPTIONS_MAX];

	const struct foreign_word *strangers; /* that are known */
};

#endif /* COMMAND_H */
