// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/json.h"

#include "cli/clean.h"

/* Of the largest rate that a double holds. */
#define DIGITS_MAX 320
#define TEXT_MAX 1024

void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

void json_add_text(struct json_object *to, const char *key, const char *text)
{
	char clean[CLEAN_MAX(TEXT_MAX)];

	/* json-c writes what is no UTF-8 as it is. */
	json_add(to, key, json_object_new_string(clean_text(text, clean, sizeof(clean))));
}

void json_add_uint(struct json_object *to, const char *key, uint64_t value)
{
	json_add(to, key, json_object_new_uint64(value));
}

void json_add_decimal(struct json_object *to, const char *key, const char *format, double value)
{
	char text[DIGITS_MAX];

	snprintf(text, sizeof(text), format, value);
	json_add(to, key, json_object_new_double_s(value, text));
}

void json_put_line(FILE *file, struct json_object *object)
{
	fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_STYLE));
	json_object_put(object);
	fflush(file);
}
