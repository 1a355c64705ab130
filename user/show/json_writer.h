/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON to stdout or a file, one member a line unless json_set_compact() was called. Objects and
 * arrays may nest; the caller closes what it opens. `key` is NULL for an element of an array and
 * for the outermost value.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Where it goes from now on. */
void json_set_output(FILE *file);

/* Each outermost value on a line of its own. */
void json_set_compact(void);

void json_open_object(const char *key);
void json_close_object(void);
void json_open_array(const char *key);
void json_close_array(void);

void json_uint(const char *key, uint64_t value);
void json_int(const char *key, int64_t value);
void json_bool(const char *key, bool value);
void json_string(const char *key, const char *value);

void json_null(const char *key);

/* Seconds, to the microsecond. */
void json_seconds(const char *key, double value);

/* Rounded to a whole number, however large. `value` is finite. */
void json_whole(const char *key, double value);

/* Six significant digits, as tc prints them. `value` is finite. */
void json_float(const char *key, double value);

#endif /* JSON_WRITER_H */
