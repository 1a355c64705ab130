/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates of plans, as files have them. */
#ifndef SUBSCRIBERS_PLAN_H
#define SUBSCRIBERS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* "2.5mbit", in bytes/s. `what` it is, for messages. False: it was reported what is wrong. */
bool plan_read_rate(const char *what, const char *text, uint64_t *rate);

/* The same of a number of Mbit/s: "2.5". */
bool plan_read_mbps(const char *what, const char *text, uint64_t *rate);

#endif /* SUBSCRIBERS_PLAN_H */
