/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What screens have in common. */
#ifndef WATCH_PUT_H
#define WATCH_PUT_H

#include <linux/types.h>

#include "watch/history.h"

/* As much of it as there is room for to the right edge. */
void put_text(int line, int column, const char *text);

/* From `line` on, on as many lines as it takes, but not on `end`. Returns the line that follows. */
int put_wrapped(int line, int end, int column, const char *text);

/* The state, and from `line` on, on so many lines, the sentence about it. */
void put_words(int line, int lines, const struct view *view);

/* "2.5/s", "2000/s": writes to `text` (FORMAT_MAX bytes) and returns it. The latter of a count in
 * an interval.
 */
const char *frequency_text(double rate, char *text);
const char *frequency(const struct figures *interval, __u64 count, char *text);

#endif /* WATCH_PUT_H */
