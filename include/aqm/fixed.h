/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A constant p', for tests and teaching. */
#ifndef DUALPI2_AQM_FIXED_H
#define DUALPI2_AQM_FIXED_H

#include "dualpi2.h"

#define AQM_NAME "fixed"
#define AQM_KIND "bpf_dualq_fixed"
#define AQM_SHARED_KIND "bpf_mq_fixed"
#define AQM_HOSTS_KIND "bpf_fixed_h"
#define AQM_ABOUT "a constant p', for tests and teaching"
#define AQM_FOR_TESTS

/* fixed_prob: p', 2^-32. */
#define AQM_PARAMS(PARAM, CHOICE, FLAG)                                                       \
	PARAM(__u32, fixed_prob, "fixed-prob", SHARE, 0, 1LL << 32, 0x10000000, "fixed-prob", \
	      "p': Classic packets are marked or dropped with its square, L4S with K times it")

/* As PI2's: nothing moves, but statistics are published. */
#define AQM_PERIOD(own) (16 * DUALPI2_NSEC_PER_MSEC)

#define AQM_GAUGES(GAUGE, COUNTER)

#include "aqm.h"

#endif /* DUALPI2_AQM_FIXED_H */
