/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text from outside, as it may go to a terminal or into a document of UTF-8: the kernel allows
 * nearly any byte in the name of an interface.
 */
#ifndef CLEAN_H
#define CLEAN_H

#include <stddef.h>

/* Room for a text of so many bytes, its NUL included. */
#define CLEAN_MAX(size) (4 * (size))

/* Write `text` to `clean`, of `size` bytes. Bytes of control characters, bytes that are no UTF-8,
 * and a backslash before an x become \xNN, so that different texts stay different. Do it once: a
 * second time escapes the escapes. The text is cut if there is no room. Returns `clean`.
 */
const char *clean_text(const char *text, char *clean, size_t size);

#endif /* CLEAN_H */
