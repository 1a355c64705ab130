/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Live views on the whole terminal, of qdiscs and of subscribers.
 *
 *	live.c			the terminal, the rhythm, the keys that all have
 *	put.c			text and words on a screen
 *	palette.c		colours
 *	help.c			keys and words
 *
 *	watch.c			qdiscs
 *	keys.c			what is pressed
 *	history.c		the newest sample, the last minute and the course of each
 *	screen.c		which screen is drawn
 *	list.c			a line for each
 *	figures.c		one in figures
 *	plots.c			its course, as plots
 *
 *	subscribers.c		those of each qdisc, what is pressed
 *	subscriber_list.c	a line for each
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/sampler.h"

/* Show it, until q or a signal (clock.h). The terminal is then as it was. False as well if there
 * is nothing to begin with.
 */
bool watch(struct sampler *sampler, uint64_t interval_ns);

/* The same of subscribers. */
bool watch_subscribers(struct sampler *sampler, uint64_t interval_ns);

#endif /* WATCH_H */
