/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text files of lines of words. What follows a # is a comment; a line without words says nothing.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

#define LINES_SIZE_MAX 65536 /* bytes of a file of options */

/* What is done with a line that says something, which it may cut; false: it was reported what is
 * wrong.
 */
typedef bool line_take(void *data, char *line);

/* The next word of a line, for the first time with the line, then with NULL; NULL: there is none.
 * `rest` is where it is kept.
 */
char *line_word(char *line, char **rest);

/* Take the lines of a text, of `size` bytes and a NUL. The messages begin with `path` and the
 * number of the line.
 */
bool lines_parse(const char *path, char *text, size_t size, line_take *take, void *data);

/* The same from a file. What was taken may point to its text, until the next one is read. */
bool lines_read(const char *path, line_take *take, void *data);

/* A file as a whole: a regular one or an unnamed pipe; a FIFO or a device is refused. `text` has
 * room for `most` bytes and a NUL. False: it was reported why there is none.
 */
bool lines_load(const char *path, char *text, size_t most, size_t *size);

/* The text behind what editors of Windows put before one in UTF-8, and do not show. */
char *lines_begin(char *text);

#endif /* LINES_H */
