// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config.h"

#include <string.h>

#include "cli/lines.h"

struct config {
	struct config_part *parts;
	struct config_part *current;
};

static bool begin(struct config *config, struct config_part *part)
{
	if (part->is_there)
		return fail(0, "%s: given twice: give it once", part->name);
	part->is_there = true;
	config->current = part;
	return true;
}

/* The part that a line begins; NULL: it is an option. */
static struct config_part *part_named(const struct config *config, const char *name)
{
	struct config_part *part = config->parts;

	while (part->name && strcmp(part->name, name))
		part++;
	return part->name ? part : NULL;
}

/* "rate 40mbit", or as other programs have it "rate=40mbit" and "rate = 40mbit". */
static bool take_line(void *data, char *line)
{
	struct config *config = data;
	const char *name, *value, *more;
	char *rest, *equals = strchr(line, '=');
	struct config_part *part;

	if (equals)
		*equals = ' ';
	name = line_word(line, &rest);
	value = line_word(NULL, &rest);
	more = line_word(NULL, &rest);
	if (!name)
		return fail(0, "=: the name of an option is missing");
	if (more)
		return fail(0, "%s: one option per line, with one word as its value", more);
	part = part_named(config, name);
	if (part && value)
		return fail(0, "%s %s: a line of its own, and the options below it", name, value);
	if (part)
		return begin(config, part);
	config->current->is_there = true;
	return command_take(config->current->command, config->current->given, name, value);
}

static void start(struct config *config, struct config_part *parts)
{
	*config = (struct config){ .parts = parts, .current = parts };
	for (struct config_part *part = parts; part->name; part++)
		part->is_there = false;
}

bool config_parse(struct config_part *parts, const char *path, char *text, size_t size)
{
	struct config config;
	bool taken;

	start(&config, parts);
	taken = lines_parse(path, text, size, take_line, &config);
	config.current->is_there = true; /* also in a text that says nothing */
	return taken;
}

bool config_read(struct config_part *parts, const char *path)
{
	struct config config;
	bool taken;

	start(&config, parts);
	taken = lines_read(path, take_line, &config);
	config.current->is_there = true;
	return taken;
}

static bool look_at_line(void *data, char *line)
{
	struct config *config = data;
	char *rest;
	struct config_part *part = part_named(config, line_word(line, &rest));

	if (part)
		config->current = part;
	config->current->is_there = true;
	return true;
}

bool config_look(struct config_part *parts, const char *path)
{
	struct config config = { .parts = parts, .current = parts };
	bool read = lines_read(path, look_at_line, &config);

	config.current->is_there = true;
	return read;
}
