/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that takes another's place by a rename, once it is whole: nobody reads half of one. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>

struct output_file {
	int directory;	     /* of both: later we may be in another mount namespace (pins.h) */
	char name[NAME_MAX]; /* of the file */
	char temporary[NAME_MAX + 1];
};

/* Begin one for `path`, which the standard output goes to from now on. Returns false, with a
 * report (message.h), if there can be none there.
 */
bool output_begin(struct output_file *output, const char *path);

/* All is written: the file gets its place or, if it is not `whole`, goes. Returns false, with
 * a report, if it cannot have it.
 */
bool output_end(const struct output_file *output, bool whole);

#endif /* OUTPUT_H */
