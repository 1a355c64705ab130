/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view on the whole terminal.
 *
 *	watch.c		the terminal, the rhythm
 *	keys.c		what is pressed
 *	history.c	the samples of the last minute and the course of each qdisc
 *	screen.c	what is drawn, with ncurses: which screen, and what all have
 *	list.c		a line for each qdisc
 *	figures.c	one qdisc in figures
 *	plots.c		its course, as plots
 *	help.c		keys and words
 *	palette.c	colours
 */
#ifndef WATCH_H
#define WATCH_H

#include "sample/clock.h"
#include "sample/sampler.h"
#include "show/show.h"

/* Show it, until q or a signal (clock.h). The terminal is then as it was. False as well if there
 * is nothing to begin with.
 */
bool watch(struct sampler *sampler, uint64_t interval_ns);

/* ---- history.c ----------------------------------------------------------------------- */

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

struct history {
	struct samples samples[WINDOW_INTERVALS + 1]; /* the oldest first */
	size_t count;
	struct course *courses; /* one for each item of the newest sample */
};

/* Becomes the newest one; its items are the history's from now on. False: there is no memory. */
bool history_add(struct history *history, const struct samples *samples);

/* The newest sample; there is one. */
const struct samples *history_newest(const struct history *history);

/* Forget all but the newest sample. */
void history_restart(struct history *history);

void history_free(struct history *history);

/* A qdisc as it is, in the last interval, and in the last minute, or what is known of it. */
struct view {
	const struct sample *now;
	const struct course *course;
	struct sample interval, window; /* only if `course` has an interval */
};

/* `item`: of the newest sample. */
void history_view(const struct history *history, size_t item, struct view *view);

/* ---- keys.c -------------------------------------------------------------------------- */

struct watcher {
	struct sampler *sampler;
	struct pace pace;
	struct history history;
	size_t selected; /* of the newest sample */
	bool shows_list; /* of all, if there are several, and not the selected one in full */
	bool shows_help; /* instead of either */
	bool is_paused;	 /* no samples are taken */
	bool is_done;
};

/* A key as curses has it. */
void key_pressed(struct watcher *watcher, int key);

/* ---- palette.c ----------------------------------------------------------------------- */

/* To be called on the terminal: which colours there are. None if $NO_COLOR is set. */
void palette_init(void);

/* Attributes of curses. */
int palette_condition(enum condition condition);

/* ---- drawing ------------------------------------------------------------------------- */

#define SCREEN_COLUMNS 60 /* at least */
#define SCREEN_LINES 18

/* screen.c */
void screen_draw(const struct watcher *watcher);

/* As much of it as there is room for to the right edge. */
void put_text(int line, int column, const char *text);

/* From `line` on, on as many lines as it takes, but not on `end`. Returns the line that follows. */
int put_wrapped(int line, int end, int column, const char *text);

/* The state, and from `line` on, on so many lines, the sentence about it. */
void put_words(int line, int lines, const struct view *view);

/* "2.5/s", "2000/s": writes to `text` (FORMAT_MAX bytes) and returns it. */
const char *frequency(const struct sample *interval, __u64 count, char *text);

/* list.c */
void list_draw(const struct watcher *watcher);

/* figures.c: from FIGURES_LINE on. Returns the line that follows. */
#define FIGURES_LINE 4
int figures_draw(const struct view *view);

/* plots.c: from `line` on, as many as there is room for. */
void plots_draw(int line, const struct course *course, uint64_t interval_ns);

/* help.c */
void help_draw(void);

#endif /* WATCH_H */
