// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config.h"

#include <string.h>

#include "cli/lines.h"

/* "rate 40mbit", or as other programs have it "rate=40mbit" and "rate = 40mbit". */
static bool take_line(void *command, char *line)
{
	const char *name, *value, *more;
	char *rest, *equals = strchr(line, '=');

	if (equals)
		*equals = ' ';
	name = line_word(line, &rest);
	value = line_word(NULL, &rest);
	more = line_word(NULL, &rest);
	if (!name)
		return fail(0, "=: the name of an option is missing");
	if (more)
		return fail(0, "%s: one option a line, and one word as its value", more);
	return command_take(command, name, value);
}

bool config_parse(struct command *command, const char *path, char *text, size_t size)
{
	command_settle(command);
	return lines_parse(path, text, size, take_line, command);
}

bool config_read(struct command *command, const char *path)
{
	command_settle(command);
	return lines_read(path, take_line, command);
}
