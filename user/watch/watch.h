/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view on the whole terminal.
 *
 *	watch.c		the terminal, keys, the rhythm
 *	history.c	the samples of the last minute, and what they say of one qdisc
 *	screen.c	what is drawn, with ncurses
 */
#ifndef WATCH_H
#define WATCH_H

#include "sample/clock.h"
#include "sample/sampler.h"

/* Show it, until q or a signal (clock.h). The terminal is then as it was. False as well if there
 * is nothing to begin with.
 */
bool watch(struct sampler *sampler, uint64_t interval_ns);

/* ---- history.c ----------------------------------------------------------------------- */

#define HISTORY_INTERVALS 60

struct history {
	struct samples samples[HISTORY_INTERVALS + 1]; /* the oldest first */
	size_t count;
};

/* Becomes the newest one; its items are the history's from now on. */
void history_add(struct history *history, const struct samples *samples);

/* The newest sample; there is one. */
const struct samples *history_newest(const struct history *history);

void history_free(struct history *history);

/* What is plotted, of each interval. */
enum series {
	SERIES_L_DELAY, /* ns; 99 % of the packets waited no longer */
	SERIES_C_DELAY,
	SERIES_L_RATE, /* bit/s, forwarded */
	SERIES_C_RATE,
	SERIES_PROBABILITY, /* p', 0 to 1, at its end */
	N_SERIES,
};

/* A qdisc as it is, in the last interval, and since the oldest sample that is of it. */
struct view {
	const struct sample *now;
	struct sample interval, window; /* span_ns is 0 if there is only one sample */
	double series[N_SERIES][HISTORY_INTERVALS];
	size_t count; /* intervals in `series`, the oldest first */
};

/* `now`: an item of the newest sample. */
void history_view(const struct history *history, const struct sample *now, struct view *view);

/* ---- screen.c ------------------------------------------------------------------------ */

#define SCREEN_COLUMNS 80 /* at least */
#define SCREEN_LINES 24

struct watcher {
	struct sampler *sampler;
	struct pace pace;
	struct history history;
	size_t selected; /* of the newest sample */
	bool shows_list; /* of all, if there are several, and not the selected one in full */
	bool is_done;
};

void screen_draw(const struct watcher *watcher);

#endif /* WATCH_H */
