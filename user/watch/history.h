/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The newest sample, and of each qdisc the last minute and its course. */
#ifndef WATCH_HISTORY_H
#define WATCH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/sampler.h"

#define WINDOW_INTERVALS 60  /* what the sentence is about */
#define COURSE_INTERVALS 400 /* what is plotted, as far as the terminal is wide enough */

/* What is plotted, of each interval. */
enum series {
	SERIES_L_DELAY, /* ns; 99 % of the packets waited no longer */
	SERIES_C_DELAY,
	SERIES_L_RATE, /* bit/s, forwarded */
	SERIES_C_RATE,
	SERIES_PROBABILITY, /* p', 0 to 1, at its end */
	N_SERIES,
};

/* Of a qdisc, all intervals since it is seen without a gap. */
struct course {
	double series[N_SERIES][COURSE_INTERVALS]; /* the oldest first */
	size_t count;
};

/* What is remembered of a qdisc. */
struct track {
	struct course course;
	/* Its totals at the beginning of the latest intervals: a ring, of which `next` is the place
	 * that is overwritten next.
	 */
	struct figures began[WINDOW_INTERVALS];
	size_t next;
};

struct history {
	struct samples now;    /* the newest sample */
	struct track **tracks; /* one for each item of it */
};

/* Becomes the newest one; its items are the history's from now on. False: there is no memory. */
bool history_add(struct history *history, const struct samples *samples);

/* Forget all but the newest sample. */
void history_restart(struct history *history);

void history_free(struct history *history);

/* A qdisc as it is, with its last interval, and what happened in the last minute, or what is known
 * of it.
 */
struct view {
	const struct sample *now;
	const struct course *course;
	struct figures window; /* only if `course` has an interval, as the last interval */
};

/* `item`: of the newest sample. */
void history_view(const struct history *history, size_t item, struct view *view);

#endif /* WATCH_HISTORY_H */
