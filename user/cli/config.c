// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config.h"

#include "cli/lines.h"

static bool take_line(void *command, char *line)
{
	char *rest;
	const char *name = line_word(line, &rest), *value = line_word(NULL, &rest);
	const char *more = line_word(NULL, &rest);

	if (more)
		return fail(0, "%s: one option a line, and one word as its value", more);
	return command_take(command, name, value);
}

bool config_parse(struct command *command, const char *path, char *text, size_t size)
{
	return lines_parse(path, text, size, take_line, command);
}

bool config_read(struct command *command, const char *path)
{
	return lines_read(path, take_line, command);
}
