/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of subscribers: docs/subscribers.md. It has our own format (own.h), or its header is that
 * of LibreQoS's ShapedDevices.csv (libreqos.h).
 */
#ifndef SUBSCRIBERS_FILE_H
#define SUBSCRIBERS_FILE_H

#include "subscribers/list.h"

#define SUBSCRIBERS_SIZE_MAX (16 << 20) /* bytes of a file: 1024 for each subscriber */

/* The subscribers of a text, of `size` bytes and a NUL, which is cut. False: it was reported what
 * is wrong, and the list is empty. subscribers_free() it otherwise.
 */
bool subscribers_parse(const char *path, char *text, size_t size, struct subscribers *list);

/* The same from a file. */
bool subscribers_read(const char *path, struct subscribers *list);

#endif /* SUBSCRIBERS_FILE_H */
