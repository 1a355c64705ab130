// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/json_writer.h"

#include <inttypes.h>
#include <stdio.h>

static FILE *output; /* NULL: stdout */
static int depth;
static bool is_compact;
static bool is_first = true; /* nothing was written yet at this depth */

static FILE *stream(void)
{
	return output ? output : stdout;
}

static void new_line(void)
{
	if (!is_compact)
		fprintf(stream(), "\n%*s", 4 * depth, "");
}

static void put_text(const char *text)
{
	putc('"', stream());
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(stream(), "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(stream(), "\\u%04x", *text);
		else
			putc(*text, stream());
	}
	putc('"', stream());
}

/* What goes before every value. */
static void begin_value(const char *key)
{
	if (!is_first)
		putc(',', stream());
	if (depth)
		new_line();
	is_first = false;
	if (!key)
		return;
	put_text(key);
	fprintf(stream(), ": ");
}

static void open_with(const char *key, char bracket)
{
	begin_value(key);
	putc(bracket, stream());
	depth++;
	is_first = true;
}

static void close_with(char bracket)
{
	depth--;
	if (!is_first)
		new_line();
	putc(bracket, stream());
	is_first = !depth;
	if (!depth)
		putc('\n', stream());
}

void json_set_output(FILE *file)
{
	output = file;
}

void json_set_compact(void)
{
	is_compact = true;
}

void json_open_object(const char *key)
{
	open_with(key, '{');
}

void json_close_object(void)
{
	close_with('}');
}

void json_open_array(const char *key)
{
	open_with(key, '[');
}

void json_close_array(void)
{
	close_with(']');
}

void json_uint(const char *key, uint64_t value)
{
	begin_value(key);
	fprintf(stream(), "%" PRIu64, value);
}

void json_int(const char *key, int64_t value)
{
	begin_value(key);
	fprintf(stream(), "%" PRId64, value);
}

void json_bool(const char *key, bool value)
{
	begin_value(key);
	fprintf(stream(), "%s", value ? "true" : "false");
}

void json_string(const char *key, const char *value)
{
	begin_value(key);
	put_text(value);
}

void json_null(const char *key)
{
	begin_value(key);
	fprintf(stream(), "null");
}

void json_seconds(const char *key, double value)
{
	begin_value(key);
	fprintf(stream(), "%.6f", value);
}

void json_whole(const char *key, double value)
{
	begin_value(key);
	fprintf(stream(), "%.0f", value);
}

void json_float(const char *key, double value)
{
	begin_value(key);
	fprintf(stream(), "%g", value);
}
