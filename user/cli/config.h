/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options from a file, one a line, as dualpi2.conf(5) describes it. */
#ifndef CONFIG_H
#define CONFIG_H

#include "cli/options.h"

/* Take the options of a text, of `size` bytes and a NUL, that the command line leaves open. The
 * text is cut into words, which the options of the command point to afterwards. False: bad input
 * was reported, with `path` and the number of the line.
 */
bool config_parse(struct command *command, const char *path, char *text, size_t size);

/* The same from a file. Only one can be read. */
bool config_read(struct command *command, const char *path);

#endif /* CONFIG_H */
