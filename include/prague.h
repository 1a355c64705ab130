/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of TCP Prague (draft-briscoe-iccrg-prague-congestion-control; the reference is
 * version 0.7 of tcp_prague.c, of L4STeam/linux), in integers and without side effects but on its
 * own state, for BPF and user space.
 *
 *	no CE		W += g / W for each packet
 *	first CE	W /= 2, and slow start ends
 *	CE		W -= W alpha / 2, at most once in a virtual RTT
 *	virtual RTT	alpha += (F - alpha) / 16, F: share of its packets that had CE
 *	loss		W /= 2
 *
 * Of a slow flow, with fewer than four packets in a virtual RTT, the share of those that had CE
 * says little, and says it late: each CE takes its part at once, 1/2 packet in a virtual RTT. In
 * steps of a quarter that leads to 2 (1 - p) / p packets in 25 ms at a share p of CE. (A fast flow
 * has about 2.7 (1 - p) / p: it waits for the next CE before it cuts.)
 *
 * From four rounds after slow start on the virtual RTT is at least 25 ms, and g = (RTT / 25 ms)^2
 * below that: the same share of marks gives flows of all shorter RTTs about the same rate.
 *
 * docs/prague.md says where it differs from the reference, and why.
 */
#ifndef DUALPI2_PRAGUE_H
#define DUALPI2_PRAGUE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

#define PRAGUE_RTT_US 25000U	     /* virtual RTT of all that are shorter */
#define PRAGUE_TRANSITION 4U	     /* rounds after slow start in which they are not yet */
#define PRAGUE_ALPHA_SHIFT 4	     /* weight of a virtual RTT in alpha: 1/16 */
#define PRAGUE_ALPHA_MAX 0xffffffffU /* every packet has CE */
#define PRAGUE_PACKET (1ULL << 20)   /* a packet, in the unit of windows */
#define PRAGUE_CWND_MAX (1U << 18)   /* packets: keeps products in 64 bits */
#define PRAGUE_WINDOW_MAX (PRAGUE_CWND_MAX * PRAGUE_PACKET)
#define PRAGUE_CWND_MIN 2U     /* packets that may be in flight, however small W is */
#define PRAGUE_SLOW 4U	       /* packets in a virtual RTT: with fewer a flow is slow */
#define PRAGUE_SLOW_SHIFT 2    /* its steps are a quarter */
#define PRAGUE_RATE_MIN 12500U /* bytes/s: never slower than 100 kbit/s */
#define PRAGUE_MTU 1500U       /* bytes: one packet of the increase */

struct prague {
	__u64 window;	    /* W, 2^-20 packets of an MTU each */
	__u64 lost;	    /* what the last loss took from it, for an undo, 2^-20 packets */
	__u64 cut_us;	    /* when it was cut for CE */
	__u64 round_us;	    /* when this virtual RTT began */
	__u32 alpha;	    /* smoothed share of packets that had CE, 2^-32 */
	__u32 rounds;	    /* that ended since slow start did; no more than PRAGUE_TRANSITION */
	__u32 delivered;    /* the socket's counters as this virtual RTT began: packets that */
	__u32 delivered_ce; /* arrived, and those of them that had CE */
	__u32 saw_ce;	    /* something on the path marks: alpha has a meaning */
	__u32 reserved;
};

/* Rounded. */
static inline __u64 prague_divide(__u64 a, __u64 b)
{
	return (a + b / 2) / b;
}

/* A time between two readings of the socket's clock, which never runs backwards. */
static inline bool prague_has_passed(__u64 us, __u64 since_us, __u64 now_us)
{
	return now_us - since_us >= us;
}

/* ---- the virtual RTT --------------------------------------------------------------- */

static inline bool prague_is_independent(const struct prague *p)
{
	return p->rounds >= PRAGUE_TRANSITION;
}

static inline __u32 prague_virtual_rtt(const struct prague *p, __u32 srtt_us)
{
	return prague_is_independent(p) && srtt_us < PRAGUE_RTT_US ? PRAGUE_RTT_US : srtt_us;
}

/* Is it a slow flow? */
static inline bool prague_is_slow(const struct prague *p, __u32 srtt_us)
{
	return p->saw_ce && (p->window >> 10) * prague_virtual_rtt(p, srtt_us) <
				    (PRAGUE_SLOW * PRAGUE_PACKET >> 10) * srtt_us;
}

/* g: what the window gains in a round trip without CE, 2^-20 packets. */
static inline __u64 prague_gain(const struct prague *p, __u32 srtt_us)
{
	__u64 gain = PRAGUE_PACKET;

	if (prague_is_independent(p) && srtt_us < PRAGUE_RTT_US)
		gain = prague_divide((__u64)srtt_us * srtt_us * PRAGUE_PACKET,
				     (__u64)PRAGUE_RTT_US * PRAGUE_RTT_US);
	return prague_is_slow(p, srtt_us) ? gain >> PRAGUE_SLOW_SHIFT : gain;
}

/* ---- the window -------------------------------------------------------------------- */

/* The smallest one. `mtu`: bytes of a packet with its IP header. */
static inline __u64 prague_window_min(__u32 srtt_us, __u32 mtu)
{
	return prague_divide(PRAGUE_PACKET * PRAGUE_RATE_MIN / 100 * srtt_us, 10000ULL * mtu);
}

static inline void prague_set_window(struct prague *p, __u64 window)
{
	p->window = window < PRAGUE_WINDOW_MAX ? window : PRAGUE_WINDOW_MAX;
}

/* The largest window of the kernel, packets, where the socket has its own (a route's `cwnd lock`).
 */
static inline __u32 prague_cwnd_max(__u32 clamp)
{
	return clamp < PRAGUE_CWND_MAX ? clamp : PRAGUE_CWND_MAX;
}

/* W has to end where the kernel's window does: above it a cut would change nothing. */
static inline void prague_bound(struct prague *p, __u32 clamp)
{
	const __u64 max = prague_cwnd_max(clamp) * PRAGUE_PACKET;

	if (p->window > max)
		p->window = max;
}

/* `acked` packets have arrived without CE. Smaller packets are worth more, so that flows gain bytes
 * alike.
 */
static inline void prague_increase(struct prague *p, __u32 acked, __u64 gain, __u32 mtu)
{
	const __u64 packets = acked < 1U << 16 ? acked : 1U << 16;
	const __u64 window = p->window > 1U << 10 ? p->window : 1U << 10;
	__u64 increase = prague_divide(packets * gain * PRAGUE_PACKET, window);

	increase = prague_divide(increase * PRAGUE_MTU, mtu);
	prague_set_window(p, p->window + (increase > packets ? increase : packets));
}

/* Take half of a share (2^-32) from the window, and from what an undo would give back to it. */
static inline void prague_reduce(struct prague *p, __u32 share, __u64 min)
{
	const __u64 half = share >> 8; /* 2^-25: times 2^38 that fits */

	p->window -= (p->window * half + (1U << 24)) >> 25;
	p->lost -= p->lost * half >> 25;
	if (p->window < min)
		p->window = min;
}

/* A slow flow: half a packet in a virtual RTT for each that had CE. */
static inline void prague_step_down(struct prague *p, __u32 ce, __u32 srtt_us, __u64 min)
{
	const __u64 step = PRAGUE_PACKET / 2 * srtt_us / prague_virtual_rtt(p, srtt_us);
	const __u64 less = ce * (step >> PRAGUE_SLOW_SHIFT);

	p->window = p->window > min + less ? p->window - less : min;
}

/* Take half of a share (2^-32) for CE, but not within `pause_us` of the last time. The first CE
 * waits for nothing.
 */
static inline void prague_cut(struct prague *p, __u32 share, __u32 pause_us, __u64 now_us,
			      __u64 min)
{
	if (p->saw_ce && !prague_has_passed(pause_us, p->cut_us, now_us))
		return;
	prague_reduce(p, share, min);
	p->saw_ce = 1;
	p->cut_us = now_us;
}

/* CE arrived, on `ce` packets. */
static inline void prague_ce(struct prague *p, __u32 ce, __u64 now_us, __u32 srtt_us, __u64 min)
{
	if (prague_is_slow(p, srtt_us))
		prague_step_down(p, ce, srtt_us, min);
	else
		prague_cut(p, p->saw_ce ? p->alpha : PRAGUE_ALPHA_MAX,
			   prague_virtual_rtt(p, srtt_us), now_us, min);
}

/* The same with the response of Reno: half, once in a round trip (RFC 3168, 6.1.2). */
static inline void prague_ce_reno(struct prague *p, __u64 now_us, __u32 srtt_us, __u64 min)
{
	prague_cut(p, PRAGUE_ALPHA_MAX, srtt_us, now_us, min);
}

/* A packet was lost, or the sender's own qdisc had no room for one. */
static inline void prague_loss(struct prague *p)
{
	p->lost = p->window / 2;
	p->window -= p->lost;
}

/* It was not. What CE took in the meantime stays. */
static inline void prague_undo(struct prague *p)
{
	prague_set_window(p, p->window + p->lost);
	p->lost = 0;
}

/* Nothing was sent for `idle_us`: half for each retransmission timeout, as
 * net/ipv4/tcp_output.c, tcp_cwnd_restart(). `restart`: what it goes down to, packets.
 */
static inline void prague_idle(struct prague *p, __u64 idle_us, __u64 rto_us, __u32 restart)
{
	const __u64 min = restart * PRAGUE_PACKET;

	for (int i = 0; i < 38 && idle_us > rto_us && p->window > min; i++) {
		p->window = p->window / 2 > min ? p->window / 2 : min;
		idle_us -= rto_us;
	}
}

/* W, packets: rounded up. */
static inline __u32 prague_packets(const struct prague *p)
{
	return (__u32)((p->window + PRAGUE_PACKET - 1) / PRAGUE_PACKET);
}

/* The kernel's window, packets: W, but one step at a time. `clamp`: its maximum. */
static inline __u32 prague_cwnd(const struct prague *p, __u32 cwnd, __u32 clamp)
{
	__u32 goal = prague_packets(p);

	if (goal < PRAGUE_CWND_MIN)
		goal = PRAGUE_CWND_MIN;
	if (goal > prague_cwnd_max(clamp))
		goal = prague_cwnd_max(clamp);
	return cwnd + (cwnd < goal) - (cwnd > goal);
}

/* ---- alpha --------------------------------------------------------------------------- */

/* A virtual RTT ended. `slow_start`: the rounds that make a flow independent of its RTT begin
 * later.
 */
static inline void prague_round(struct prague *p, __u64 now_us, __u32 delivered, __u32 delivered_ce,
				bool slow_start)
{
	const __u32 packets = delivered - p->delivered, ce = delivered_ce - p->delivered_ce;
	__u64 share = 0; /* 2^-32 */

	if (ce)
		share = ce < packets ? prague_divide((__u64)ce << 32, packets) : PRAGUE_ALPHA_MAX;
	if (p->saw_ce)
		p->alpha = (__u32)((((__u64)p->alpha << PRAGUE_ALPHA_SHIFT) - p->alpha + share) >>
				   PRAGUE_ALPHA_SHIFT);
	if (!slow_start && p->rounds < PRAGUE_TRANSITION)
		p->rounds++;
	p->delivered = delivered;
	p->delivered_ce = delivered_ce;
	p->round_us = now_us;
}

/* ---- pacing ------------------------------------------------------------------------ */

/* Bytes/s. `in_flight`: packets, which may be more than a window that has just been cut. A slow
 * flow goes 4/128 faster in the first half of the virtual RTT and slower in the second, so that a
 * step AQM marks in each of them. `fast`: the window is far from the threshold of
 * slow start.
 */
static inline __u64 prague_pacing(const struct prague *p, __u32 in_flight, __u32 mtu, __u32 srtt_us,
				  __u64 now_us, bool fast)
{
	const bool is_slow = prague_is_slow(p, srtt_us);
	__u64 window = p->window, rate;

	if (!is_slow && in_flight * PRAGUE_PACKET > window)
		window = in_flight * PRAGUE_PACKET;
	rate = (window * mtu >> 10) * 1000000 / (srtt_us ?: 1) >> 10;
	if (is_slow)
		rate += prague_has_passed(prague_virtual_rtt(p, srtt_us) / 2, p->round_us, now_us)
				? -(rate >> 5)
				: rate >> 5;
	if (fast)
		rate *= 2;
	return rate > PRAGUE_RATE_MIN ? rate : PRAGUE_RATE_MIN;
}

#endif /* DUALPI2_PRAGUE_H */
