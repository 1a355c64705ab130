/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view on the whole terminal.
 *
 *	watch.c		the terminal, the rhythm
 *	keys.c		what is pressed
 *	history.c	the newest sample, the last minute and the course of each qdisc
 *	screen.c	what is drawn, with ncurses: which screen, and what all have
 *	list.c		a line for each qdisc
 *	figures.c	one qdisc in figures
 *	plots.c		its course, as plots
 *	help.c		keys and words
 *	put.c		text and words on a screen
 *	palette.c	colours
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

#endif /* WATCH_H */
