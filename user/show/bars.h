/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plots made of characters: eighths of a block where the terminal knows them, else ASCII. */
#ifndef BARS_H
#define BARS_H

#include <stdbool.h>

/* A character takes up to three bytes. */
#define BAR_WIDTH_MAX 40
#define BAR_TEXT_MAX (3 * BAR_WIDTH_MAX + 1)

/* To be called first: which characters there are, the locale (LC_CTYPE) tells. */
void bars_init(void);

/* A bar from left to right, `value` (0 to 1) of `width` (up to BAR_WIDTH_MAX) characters, filled up
 * with blanks. Writes to `text` (BAR_TEXT_MAX bytes) and returns it.
 */
const char *bar_across(double value, int width, char *text);

/* A bar upwards, `value` (0 to 1) of `height` characters: the one in `row`, from below, 0 first.
 * What is not 0 can be seen.
 */
const char *bar_upward(double value, int height, int row);

#endif /* BARS_H */
