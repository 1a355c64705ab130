/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packet values for VDQ-CSAQM (vdq.h), in integers and without side effects but on their own state,
 * for BPF and user space.
 *
 * A marker measures the rate R of each flow and gives each of its packets the value V(r), with r
 * evenly spread over 0..R. V falls, so where packets with a value up to v are dropped, what each
 * flow keeps is min(R, V^-1(v)): the same for all.
 */
#ifndef DUALPI2_PACKET_VALUE_H
#define DUALPI2_PACKET_VALUE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "lg.h"
#include "vdq.h"

/* V is a straight line over lg r, from VDQ_VALUE_MAX at 2^10 bytes/s (8 kbit/s) and below, over so
 * many powers of two.
 */
#define VALUE_LG_MIN 10
#define VALUE_LG_RANGE 25

/* The golden ratio's fraction, 2^-32: its multiples, cut to 32 bits, are spread over all of them as
 * evenly as can be, however many there are (Knuth, TAOCP 3, 6.4). Dice would spread them worse.
 */
#define VALUE_SPREAD 0x9e3779b9U

/* The longest gap that counts, ns: after it a flow is as good as new. */
#define VALUE_GAP_MAX_NS 10000000000ULL

/* The highest rate, bytes/s: 69 Gbit/s. */
#define VALUE_RATE_MAX ((1ULL << 33) - 1)

/* What is known of a flow. */
struct value_flow {
	__u64 last_ns; /* when its latest packet came, ns */
	__u64 rate;    /* R, bytes/s, up to VALUE_RATE_MAX */
	__u32 spread;  /* r / R of the latest packet, 2^-32 */
	__u32 reserved;
};

/* A packet of `len` bytes has come: R. `memory_ns`: how long a change of the rate takes to be seen,
 * up to 1 s. A mean that is exact for any constant distance of packets, short or long: R = len /
 * distance is its fixed point.
 */
static inline __u64 value_measure(struct value_flow *flow, __u64 now_ns, __u32 len, __u64 memory_ns)
{
	__u64 gap = now_ns > flow->last_ns ? now_ns - flow->last_ns : 0, rate;

	if (gap > VALUE_GAP_MAX_NS)
		gap = VALUE_GAP_MAX_NS;
	rate = (memory_ns * flow->rate + (__u64)len * 1000000000ULL) / (memory_ns + gap);
	flow->rate = rate < VALUE_RATE_MAX ? rate : VALUE_RATE_MAX;
	flow->last_ns = now_ns;
	return flow->rate;
}

/* r of the next packet, bytes/s. */
static inline __u64 value_spread(struct value_flow *flow)
{
	flow->spread += VALUE_SPREAD;
	return flow->rate * (flow->spread >> 8) >> 24;
}

/* V(r) */
static inline __u32 value_of(__u64 r)
{
	const __s64 above = lg(r ? r : 1) - (VALUE_LG_MIN << LG_SHIFT);
	const __u64 fall = (above > 0 ? above : 0) * VDQ_VALUE_MAX / (VALUE_LG_RANGE << LG_SHIFT);

	return VDQ_VALUE_MAX - (__u32)fall;
}

#endif /* DUALPI2_PACKET_VALUE_H */
