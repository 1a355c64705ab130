/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of the statistics, CLOCK_MONOTONIC in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <linux/types.h>

__u64 clock_now(void);

/* A time of this clock in UNIX seconds. */
double clock_unix_time(__u64 ns);

#endif /* CLOCK_H */
