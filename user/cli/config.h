/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options from a file, one a line, as dualpi2.conf(5) describes it. */
#ifndef CONFIG_H
#define CONFIG_H

#include "cli/options.h"

/* A part of a file. Parts are in a table that ends with one without a name. */
struct config_part {
	const char *name;	       /* a line of this word alone begins it */
	const struct command *command; /* takes its options */
	struct option_given *given;
	bool is_there; /* does the file have it? */
};

/* Take the options of a text, of `size` bytes and a NUL, that the command lines leave open. What
 * stands before the first line that begins a part is of the first one, which is there in a file
 * without such lines, too. The text is cut into words, which the options of the commands point to
 * afterwards. False: bad input was reported, with `path` and the number of the line.
 */
bool config_parse(struct config_part *parts, const char *path, char *text, size_t size);

/* The same from a file. The options are of the one that was read last. */
bool config_read(struct config_part *parts, const char *path);

/* Just which parts a file has. Of commands and options nothing is looked at. */
bool config_look(struct config_part *parts, const char *path);

#endif /* CONFIG_H */
