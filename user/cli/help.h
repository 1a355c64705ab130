/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --help prints, from the table of options (command.h). Completion and the man pages are made
 * from it, so they ask for all of it.
 */
#ifndef HELP_H
#define HELP_H

#include "cli/command.h"

#define HELP_GENERAL "General" /* heading of the options that all tools have */
#define HELP_ALL "all"	       /* behind --help: all options */

/* The usual options, or all if that is asked for or the command has none that are usual. */
void help_print(const struct command *command);

#endif /* HELP_H */
