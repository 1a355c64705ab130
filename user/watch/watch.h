/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view on the whole terminal.
 *
 *	watch.c		the terminal, keys, the rhythm
 *	history.c	the samples of the last minute, and what they say of one qdisc
 *	screen.c	what is drawn
 */
#ifndef WATCH_H
#define WATCH_H

#include "sample/sampler.h"

/* Show it, until q or a signal (pace.h). The terminal is then as it was. False, with a report
 * (message.h), on failure, and if there is nothing to begin with.
 */
bool watch(struct sampler *sampler, uint64_t interval_ns);

#endif /* WATCH_H */
