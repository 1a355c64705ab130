/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of the statistics (CLOCK_MONOTONIC, in nanoseconds), and waiting for the next of equal
 * intervals, until SIGINT, SIGHUP or SIGTERM.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <linux/types.h>
#include <stdbool.h>

__u64 clock_now(void);

/* A time of this clock in UNIX seconds. */
double clock_unix_time(__u64 ns);

struct pace {
	__u64 interval_ns;
	__u64 due_ns;
};

/* From now on these signals wait until pace_wait() asks for them: they interrupt nothing. */
bool pace_start(struct pace *pace, __u64 interval_ns);

/* The next is so long from now, and all after it. */
void pace_change(struct pace *pace, __u64 interval_ns);

enum pace_event {
	PACE_DUE,   /* the time has come; the next is one interval later */
	PACE_INPUT, /* there is something to read, or a signal like SIGWINCH has come */
	PACE_END,   /* one of the signals has come, or `input` is closed */
};

/* Wait until it is time, or there is something to read from `input` (-1: from nothing). */
enum pace_event pace_wait(struct pace *pace, int input);

#endif /* CLOCK_H */
