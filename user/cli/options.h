/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of a tool, or of one of its commands: one table of options drives getopt_long,
 * tc's spelling, the help text and the messages about bad input.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/message.h"

/* Of this tool, as --version has it. */
const char *tool_version(void);

/* Read the command line. --help, --version and --verbose are understood without being in the table.
 * False: the tool has nothing to do but to exit with `status`, because bad input was
 * reported, or --help or --version answered.
 */
bool command_read(struct command *command, int argc, char **argv, enum status *status);

/* What was given for an option, or as a word, of this name; NULL: nothing. */
const char *command_given(const struct command *command, const char *name);

/* The value that a text is, as this option takes it. False: it was reported that it is none. */
bool option_read(const struct option_spec *spec, const char *text, uint64_t *value);

/* Take one option from a file, with or without the dashes or in tc's spelling, unless the command
 * line has settled it. `given`: that of the command, or another one for the same options. `value`:
 * NULL if there is none. False: it was reported what is wrong.
 */
bool command_take(const struct command *command, struct option_given *given, const char *name,
		  const char *value);

#endif /* OPTIONS_H */
