// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMENT '#'
#define BLANKS " \t\r"

static bool take_line(struct command *command, char *line)
{
	const char *name, *value, *more;
	char *rest;

	line[strcspn(line, (const char[]){ COMMENT, '\0' })] = '\0';
	name = strtok_r(line, BLANKS, &rest);
	if (!name)
		return true;
	value = strtok_r(NULL, BLANKS, &rest);
	more = strtok_r(NULL, BLANKS, &rest);
	if (more)
		return fail(0, "%s: one option a line, and one word as its value", more);
	return command_take(command, name, value);
}

bool config_parse(struct command *command, const char *path, char *text, size_t size)
{
	char *const end = text + size;
	unsigned int number = 0;
	bool taken = true;

	while (text < end && taken) {
		char *line = text;
		size_t length = strcspn(line, "\n");

		text += length + 1;
		message_set_place("%s:%u", path, ++number);
		if (line + length < end && line[length] != '\n') {
			taken = fail(0, "has a NUL character: this is no text");
			break;
		}
		line[length] = '\0';
		taken = take_line(command, line);
	}
	message_set_place(NULL);
	return taken;
}

bool config_read(struct command *command, const char *path)
{
	static char text[CONFIG_SIZE_MAX + 1];
	FILE *file = fopen(path, "re");
	size_t size;
	int error;

	if (!file)
		return fail(errno, "%s: cannot be read: %s", path, strerror(errno));
	size = fread(text, 1, sizeof(text), file);
	error = ferror(file) ? errno : 0;
	fclose(file);
	if (error)
		return fail(error, "%s: cannot be read: %s", path, strerror(error));
	if (size > CONFIG_SIZE_MAX)
		return fail(0, "%s: longer than %u bytes: this is no file of options", path,
			    CONFIG_SIZE_MAX);
	text[size] = '\0';
	return config_parse(command, path, text, size);
}
