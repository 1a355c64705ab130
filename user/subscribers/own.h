/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our own format of subscribers: NAME PREFIX[,PREFIX...] DOWN UP [PARENT] a line. A parent has "-"
 * for its prefixes: docs/subscribers.md.
 */
#ifndef SUBSCRIBERS_OWN_H
#define SUBSCRIBERS_OWN_H

#include <stdio.h>

#include "subscribers/list.h"

/* Add those of a text, of `size` bytes and a NUL, which is cut. False: it was reported what is
 * wrong, with `path` and the number of the line.
 */
bool own_parse(const char *path, char *text, size_t size, struct subscribers *list);

/* Those of a list that has been ended. False: no memory, which is reported. */
bool own_print(const struct subscribers *list, FILE *file);

#endif /* SUBSCRIBERS_OWN_H */
