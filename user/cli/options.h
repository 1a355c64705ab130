/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of both tools: one table of options drives getopt_long, tc's
 * spelling, the help text and the messages about bad input.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/message.h"
#include "cli/spec.h"

/* Options under one heading of the help text. An option of the same name may stand in several
 * groups: then its value is for all of them, and one that none of them takes is refused.
 */
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
