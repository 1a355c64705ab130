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
#include "vdq/vdq.h"

/* V is a straight line over lg r, from VDQ_VALUE_MAX at 2^10 bytes/s (8 kbit/s) and below, over so
 * many powers of two.
 */
#define VALUE_LG_MIN 10
#define VALUE_LG_RANGE 25

/* The golden ratio's fraction, 2^-32: its multiples, cut to 32 bits, are spread over all of them as
 * evenly as can be, however many there are (Knuth, TAOCP 3, 6.4). Dice would spread them worse.
 */
#define VALUE_SPREAD 0x9e3779b9U

/* The longest gap that counts, ns, or the sum would not fit 64 bits. Behind it a flow that sends
 * again has a rate of memory / (memory + gap) of what it had, and forgets that soon.
 */
#define VALUE_GAP_MAX_NS 10000000000ULL

/* How long a change of a flow's rate takes to be seen, ns: many round trips, as windows come in
 * bursts (docs/aqm.md). More than the highest would not fit 64 bits with VALUE_RATE_MAX.
 */
#define VALUE_MEMORY_NS 1000000000ULL
#define VALUE_MEMORY_MAX_NS 2000000000ULL

/* Flows that are known at a time. */
#define VALUE_FLOWS_MAX 8192

/* The highest rate, bytes/s: 69 Gbit/s. */
#define VALUE_RATE_MAX ((1ULL << 33) - 1)

/* What is known of a flow. */
struct value_flow {
	__u64 last_ns; /* when its latest packet came, ns */
	__u64 rate;    /* R, bytes/s, up to VALUE_RATE_MAX */
	__u32 spread;  /* r / R of the latest packet, 2^-32 */
	__u32 reserved;
};

/* A packet of `len` bytes has come: R. `memory_ns`: up to VALUE_MEMORY_MAX_NS. A mean that is exact
 * for any constant distance of packets, short or long: R = len / distance is its fixed point.
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

/* V(r), from 1 to VDQ_VALUE_MAX. Of a policy r may be above VALUE_RATE_MAX. */
static inline __u32 value_of(__u64 r)
{
	const __s64 above = lg(r ? r : 1) - (VALUE_LG_MIN << LG_SHIFT);
	const __u64 fall = (above > 0 ? above : 0) * VDQ_VALUE_MAX / (VALUE_LG_RANGE << LG_SHIFT);

	return fall < VDQ_VALUE_MAX ? VDQ_VALUE_MAX - (__u32)fall : 1;
}

/* V^-1(v), bytes/s: what a threshold of v leaves each flow. */
static inline __u64 value_rate(__u32 value)
{
	const __u64 above = (__u64)(VDQ_VALUE_MAX - value) * (VALUE_LG_RANGE << LG_SHIFT);
	const __u64 lg_rate = above / VDQ_VALUE_MAX + (VALUE_LG_MIN << LG_SHIFT);
	const __u64 part = lg_rate & ((1 << LG_SHIFT) - 1);

	return ((1ULL << LG_SHIFT) + part) << (lg_rate >> LG_SHIFT) >> LG_SHIFT;
}

/* ---- policies: other V ---------------------------------------------------------------- */

#define VALUE_POINTS_MAX 16
#define VALUE_SHARE_MAX 10000 /* % */

struct value_point {
	__u64 rate;  /* bytes/s, up to VALUE_RATE_MAX */
	__u32 value; /* 1..VDQ_VALUE_MAX */
	__u32 reserved;
};

/* With points their V is a straight line from each to the next, with rates that rise and values
 * that do not; before the first and behind the last it is level. Without, a flow gets `share` % of
 * what others get: V(100 r / share).
 */
struct value_policy {
	__u32 points; /* 0..VALUE_POINTS_MAX */
	__u32 share;  /* 1..VALUE_SHARE_MAX % */
	struct value_point point[VALUE_POINTS_MAX];
};

static inline __u32 value_between(const struct value_point *from, const struct value_point *to,
				  __u64 r)
{
	return from->value -
	       (__u32)((r - from->rate) * (from->value - to->value) / (to->rate - from->rate));
}

/* V(r) of a policy */
static inline __u32 value_by(const struct value_policy *policy, __u64 r)
{
	const struct value_point *to = policy->point;
	__u32 i;

	if (!policy->points)
		return value_of(r * 100 / policy->share);
	if (r <= to->rate)
		return to->value;
	for (i = 1; i < VALUE_POINTS_MAX && i < policy->points; i++, to++) {
		if (r < to[1].rate)
			return value_between(to, to + 1, r);
	}
	return to->value;
}

#endif /* DUALPI2_PACKET_VALUE_H */
