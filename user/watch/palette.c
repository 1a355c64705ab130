// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/palette.h"

#include <curses.h>
#include <stdlib.h>

static bool has_palette;

/* Pair 0 is the terminal's own. */
static short pair_of(enum condition condition)
{
	return (short)(condition + 1);
}

void palette_init(void)
{
	static const short colours[] = {
		[CONDITION_GOOD] = COLOR_GREEN,
		[CONDITION_ATTENTION] = COLOR_YELLOW,
		[CONDITION_BROKEN] = COLOR_RED,
	};
	const char *no_color = secure_getenv("NO_COLOR"); /* https://no-color.org */

	if ((no_color && *no_color) || !has_colors() || start_color() != OK)
		return;
	use_default_colors();
	for (int i = CONDITION_GOOD; i <= CONDITION_BROKEN; i++)
		init_pair(pair_of(i), colours[i], -1);
	has_palette = true;
}

int palette_condition(enum condition condition)
{
	const int weight = condition == CONDITION_GOOD ? A_NORMAL : A_BOLD;

	return weight | (has_palette ? COLOR_PAIR(pair_of(condition)) : 0);
}
