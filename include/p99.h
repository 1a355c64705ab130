/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The delay that one packet in a hundred exceeds, followed packet by packet in a single number, for
 * thousands of queues that have no room for a histogram (histogram.h).
 *
 * It goes up by 3/32 of itself with a packet that waits for longer, and else down by 1/1024: that
 * is in balance when one in 97 exceeds it. (The idea is that of Ma, Muthukrishnan, Sandler, "Frugal
 * Streaming for Estimating Quantiles", 2013, with steps in proportion.) It swings by about 10 %, is
 * right 100 packets after the first, and halves in 700.
 */
#ifndef DUALPI2_P99_H
#define DUALPI2_P99_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define P99_LEAST_NS 1024 /* of a step up, and no less is told apart */

/* What it is after one more packet that waited for `ns`; 0: there was none so far. */
static inline __u64 p99_follow(__u64 p99_ns, __u64 ns)
{
	if (ns > p99_ns)
		return p99_ns + (p99_ns >> 4) + (p99_ns >> 5) + P99_LEAST_NS;
	return p99_ns - (p99_ns >> 10);
}

#endif /* DUALPI2_P99_H */
