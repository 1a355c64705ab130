/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A view on the whole terminal: the terminal itself, the rhythm, and the keys that all views have.
 * Who is shown on it brings the rest (struct live_view).
 */
#ifndef WATCH_LIVE_H
#define WATCH_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/clock.h"

/* A terminal that has less is told so. */
#define LIVE_COLUMNS 60
#define LIVE_LINES 18

struct live {
	const struct live_view *view;
	struct pace pace;
	bool shows_help; /* instead of all else */
	bool is_paused;	 /* no samples are taken */
	bool is_done;
};

/* What is shown, and is larger than the struct live with which it begins. The terminal is that of
 * curses.
 */
struct live_view {
	bool (*take)(struct live *live);    /* a sample, when it is time; false ends it */
	void (*restart)(struct live *live); /* intervals have another length; NULL: no matter */
	void (*draw)(const struct live *live);
	void (*draw_help)(void);
	void (*press)(struct live *live, int key); /* that not all have */
};

/* Show it until q or a signal (clock.h). The terminal is then as it was. */
bool live_show(struct live *live, uint64_t interval_ns);

/* Is there a terminal? If not, it is reported, with what helps. */
bool live_has_terminal(const char *without);

/* Draw it as it is. */
void live_draw(const struct live *live);

/* On the last line: keys, and the rhythm. */
void live_put_foot(const struct live *live, const char *keys);

#endif /* WATCH_LIVE_H */
