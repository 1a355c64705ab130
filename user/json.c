// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "json.h"

#include <inttypes.h>
#include <stdio.h>

static int depth;
static bool is_compact;
static bool is_first = true; /* nothing was written yet at this depth */

static void new_line(void)
{
	if (!is_compact)
		printf("\n%*s", 4 * depth, "");
}

static void put_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

/* What goes before every value. */
static void begin_value(const char *key)
{
	if (!is_first)
		putchar(',');
	if (depth)
		new_line();
	is_first = false;
	if (!key)
		return;
	put_text(key);
	printf(": ");
}

static void open_with(const char *key, char bracket)
{
	begin_value(key);
	putchar(bracket);
	depth++;
	is_first = true;
}

static void close_with(char bracket)
{
	depth--;
	if (!is_first)
		new_line();
	putchar(bracket);
	is_first = !depth;
	if (!depth)
		putchar('\n');
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
	printf("%" PRIu64, value);
}

void json_int(const char *key, int64_t value)
{
	begin_value(key);
	printf("%" PRId64, value);
}

void json_bool(const char *key, bool value)
{
	begin_value(key);
	printf("%s", value ? "true" : "false");
}

void json_string(const char *key, const char *value)
{
	begin_value(key);
	put_text(value);
}

void json_null(const char *key)
{
	begin_value(key);
	printf("null");
}

void json_seconds(const char *key, double value)
{
	begin_value(key);
	printf("%.6f", value);
}

void json_float(const char *key, double value)
{
	begin_value(key);
	printf("%g", value);
}
