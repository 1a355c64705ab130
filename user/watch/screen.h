/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --watch draws, with ncurses, on a screen of at least SCREEN_COLUMNS by SCREEN_LINES. */
#ifndef SCREEN_H
#define SCREEN_H

#include "watch/history.h"

#define SCREEN_COLUMNS 80
#define SCREEN_LINES 24

/* One qdisc, in full; `is_one_of_several`: there is a list to go back to. */
void screen_draw_view(const struct view *view, uint64_t interval_ns, bool is_one_of_several);

/* All of them, a line each; `selected` is where the bar is. */
void screen_draw_list(const struct history *history, size_t selected);

/* There is none, on this interface or (NULL) on any. */
void screen_draw_nothing(const char *ifname);

/* The screen is too small. */
void screen_draw_too_small(void);

#endif /* SCREEN_H */
