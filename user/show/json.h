/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all our JSON has in common; it is made by json-c. */
#ifndef SHOW_JSON_H
#define SHOW_JSON_H

#include <json-c/json.h>
#include <stdio.h>

#define JSON_STYLE (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)
#define JSON_SECONDS "%.6f" /* to the microsecond */

/* A member of an object: a value that becomes the object's (NULL: null), a text, a number. `format`
 * is one for a double.
 */
void json_add(struct json_object *to, const char *key, struct json_object *value);
void json_add_text(struct json_object *to, const char *key, const char *text);
void json_add_uint(struct json_object *to, const char *key, uint64_t value);
void json_add_decimal(struct json_object *to, const char *key, const char *format, double value);

/* On a line of its own, with one write(2) if the file's buffer is large enough. Frees `object`. */
void json_put_line(FILE *file, struct json_object *object);

#endif /* SHOW_JSON_H */
