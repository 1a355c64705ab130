/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The built-in shaper: a clock that says when the link is free again.
 *
 * Each packet moves the clock on by the exact time it takes at `rate`; what does
 * not divide is carried over, so the rate is exact over any interval. There is no
 * bucket: a link that was idle starts with one packet, not with a burst. Only
 * a sender that is late (the timer fired late, the device was busy) while packets
 * waited may catch up, and never by more than SHAPER_SLACK_NS.
 */
#ifndef DUALPI2_SHAPER_H
#define DUALPI2_SHAPER_H

#include "dualpi2.h"

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif

/* What a late timer may catch up, ns: enough for a softirq that had to wait. As much as the
 * default step threshold of the L queue; another --step-thresh does not change it.
 */
#define SHAPER_SLACK_NS 1000000ULL

/* How long a packet that waits for the link may sleep before dequeue looks again. Only the look
 * finds a rate that was raised meanwhile: nothing else wakes a qdisc. Frames that take longer on
 * the link, full ones below 1.2 Mbit/s, cost some looks more.
 */
#define SHAPER_LOOK_NS 10000000ULL

/* What is dropped behind the link, on the way in, has taken its time there already, as sch_cake.c
 * counts with `ingress`: else senders that fill the link in spite of drops have their queue in
 * front of it, where nobody can shorten it. But drops have a third of the link at most, and may be
 * ahead of that by so much, ns: a flood that heeds nothing does not stop all that goes on.
 */
#define SHAPER_LOST_PART 3
#define SHAPER_LOST_AHEAD_NS 30000000ULL

struct shaper {
	__u64 free_ns;	 /* when the link has sent everything so far */
	__u64 remainder; /* of that time, in ns * rate, below rate */
	__u64 lost_ns;	 /* when what was dropped is through at its part of the link */
};

/* The bytes on the link of an skb that is `packets` packets on the wire and `len` bytes
 * to the qdisc layer. `link_header`: bytes in front of each IP header. Computed
 * as sch_cake.c does it (cake_calc_overhead()), so that its users' figures carry over;
 * but at once for all packets of a GSO skb. That is less than the sum by up to a byte a
 * packet with PTM, and by what a last packet lacks to the mpu.
 */
static inline __u32 shaper_wire_len(const struct dualpi2_params *params, __u32 len, __u32 packets,
				    __u32 link_header)
{
	__s64 wire = len, least = (__s64)params->mpu * packets;

	if (params->framing != DUALPI2_FRAMING_RAW)
		wire += ((__s64)params->overhead - link_header) * packets;
	if (wire < least) /* or below 0: a negative overhead on a tiny packet */
		wire = least;
	if (params->framing == DUALPI2_FRAMING_PTM)
		wire += (wire + 63) / 64;
	return (__u32)wire;
}

/* A packet arrives while nothing waits: the time since the link became free is
 * idle time, not a debt to catch up.
 */
static inline void shaper_wake(struct shaper *s, __u64 now_ns)
{
	if (s->free_ns >= now_ns)
		return;
	s->free_ns = now_ns;
	s->remainder = 0;
}

/* The rate changes: the link is not busy with what was sent at the old one. */
static inline void shaper_restart(struct shaper *s, __u64 now_ns)
{
	if (s->free_ns > now_ns)
		s->free_ns = now_ns;
	s->remainder = 0;
	s->lost_ns = 0;
}

/* True: a packet may leave now. If not, it may at s->free_ns. */
static inline bool shaper_ready(const struct shaper *s, __u64 rate, __u64 now_ns)
{
	return !rate || now_ns >= s->free_ns;
}

/* When to look again, where shaper_ready() says no. */
static inline __u64 shaper_look(const struct shaper *s, __u64 now_ns)
{
	__u64 soon = now_ns + SHAPER_LOOK_NS;

	return s->free_ns < soon ? s->free_ns : soon;
}

/* How long after `now_ns` a packet leaves that has `ahead` bytes on the wire (below
 * 2^33) in front of it, in nanoseconds; 0 if the link is not shaped.
 */
static inline __u64 shaper_wait(const struct shaper *s, __u64 rate, __u64 now_ns, __u64 ahead)
{
	__u64 busy = s->free_ns > now_ns ? s->free_ns - now_ns : 0;

	return rate ? busy + ahead * 1000000000ULL / rate : 0;
}

/* A packet of `wire_len` bytes leaves at `now_ns` over a link of `rate` bytes/s. Who is late may
 * catch up `slack_ns`.
 */
static inline void shaper_charge_late(struct shaper *s, __u64 rate, __u64 now_ns, __u64 slack_ns,
				      __u32 wire_len)
{
	__u64 time;

	if (!rate)
		return;
	if (s->free_ns + slack_ns < now_ns) {
		s->free_ns = now_ns - slack_ns;
		s->remainder = 0;
	}
	time = (__u64)wire_len * 1000000000ULL + s->remainder;
	s->free_ns += time / rate;
	s->remainder = time % rate;
}

static inline void shaper_charge(struct shaper *s, __u64 rate, __u64 now_ns, __u32 wire_len)
{
	shaper_charge_late(s, rate, now_ns, SHAPER_SLACK_NS, wire_len);
}

/* A packet of `wire_len` bytes that the link of `rate` bytes/s has carried is dropped at `now_ns`.
 */
static inline void shaper_charge_lost(struct shaper *s, __u64 rate, __u64 now_ns, __u32 wire_len)
{
	__u64 from = s->lost_ns > now_ns ? s->lost_ns : now_ns;

	if (!rate || from - now_ns > SHAPER_LOST_AHEAD_NS)
		return;
	s->lost_ns = from + wire_len * (SHAPER_LOST_PART * 1000000000ULL) / rate;
	shaper_charge(s, rate, now_ns, wire_len);
}

#endif /* DUALPI2_SHAPER_H */
