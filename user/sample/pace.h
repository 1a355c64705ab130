/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Something again and again at even distances, until SIGINT, SIGHUP or SIGTERM. */
#ifndef PACE_H
#define PACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t interval_ns;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	sigset_t ends;	 /* the signals that end it */
};

/* From now on these signals wait until somebody asks for them: they interrupt nothing. */
void pace_start(struct pace *pace, uint64_t interval_ns);

/* Wait until it is time again. False: one of the signals has come. */
bool pace_wait(struct pace *pace);

/* So long from now it is time again; 0: it is. */
uint64_t pace_left_ns(const struct pace *pace);

/* It is time, and so it will be one interval later. */
void pace_next(struct pace *pace);

#endif /* PACE_H */
