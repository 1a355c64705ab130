/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CoDel's control law (RFC 8289; Nichols and Jacobson, "Controlling Queue Delay", 2012), in
 * integers and without side effects but on its own state, for BPF and user space.
 *
 * While packets have waited longer than the target for an interval, one after another is signalled
 * (marked or dropped), at distances of interval / sqrt(count). Three laws agree on this. They
 * differ in what they remember of the last time:
 *
 *	mainline	Linux (include/net/codel_impl.h): to the bit, but for the bound of
 *			drops in one dequeue that 7.2 has (256): serve.bpf.h has another
 *	refined		the successor that "codel: Refine re-entering drop state to react sooner"
 *			announces (Dave Taeht, cerowrt-devel, 26 Aug 2012): ns-2's law
 *	2012		the patch that this mail withdraws, for the comparison
 *
 * Times are in units of 1024 ns of CLOCK_MONOTONIC, as Linux has them. The law is asked
 * about one packet at a time: where the sources loop over packets, the next call continues.
 */
#ifndef DUALPI2_CODEL_H
#define DUALPI2_CODEL_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

#include "lg.h"

enum codel_kind {
	CODEL_MAINLINE,
	CODEL_REFINED,
	CODEL_2012,
};

#define CODEL_SHIFT 10 /* ns to units */
#define CODEL_STEPS_MAX 5

/* From the parameters. */
struct codel_law {
	__u32 target, interval; /* units */
	__u8 kind;		/* enum codel_kind */
	__u8 steps;		/* of Newton's method for each new count; 0: what it takes */
};

/* State of one queue. */
struct codel {
	__u64 first_above; /* when it will have been above the target for long enough; 0: below */
	__u64 drop_next;   /* when the next signal is due, or the last one was */
	__u32 count;	   /* signals since dropping began, and some of the last time */
	__u32 last_count;  /* count as dropping began */
	__u32 inv_sqrt;	   /* 1 / sqrt(count), 2^-32 */
	__u32 packets, signals;		  /* that have left, and that were signalled; they wrap */
	__u32 seen_packets, seen_signals; /* of them, at the last update of the share */
	__u32 share;			  /* of packets that are signalled, smoothed, 2^-32 */
	__u8 dropping;
	__u8 has_dropped; /* drop_next has to move on, if the next packet is above the target too */
};

/* What is to be known of a packet that leaves. */
#define CODEL_LAST 1U  /* no more than a full frame waits behind it */
#define CODEL_MARKS 2U /* a signal is a mark, and the packet goes on */

/* ---- 1 / sqrt(count) --------------------------------------------------------------- */

#define CODEL_ONE 0xffffffffU

/* One step of Newton's method towards 1 / sqrt(count), 2^-32, as codel_Newton_step() has it: the
 * error of e becomes 1.5 e^2.
 */
static inline __u32 codel_newton(__u32 inv_sqrt, __u32 count)
{
	__u64 square = (__u64)inv_sqrt * inv_sqrt >> 32;

	/* The shift by 2 keeps the product in 64 bits. */
	return (__u32)((((3ULL << 32) - count * square) >> 2) * inv_sqrt >> 31);
}

/* The same to 0.01 %, whatever it was. Of count = m * 4^s, 1 <= m < 4, the first guess of 1 /
 * sqrt(m) is off by 19 % at most, so three steps do.
 */
static inline __u32 codel_inv_sqrt(__u32 count)
{
	const __u32 log2 = lg_floor(count), s = log2 / 2;
	const __u64 m = (__u64)count << 30 >> 2 * s;	/* 2^-30 */
	__u64 y = log2 & 1 ? 0x9837f051U : 0xd744fccbU; /* 2^-3/4 and 2^-1/4, 2^-32 */

	for (int i = 0; i < 3; i++)
		y = (((3ULL << 62) - m * (y * y >> 32)) >> 32) * y >> 31;
	return count == 1 ? CODEL_ONE : (__u32)(y >> s);
}

/* Linux keeps 16 bits. */
static inline __u32 codel_kept(const struct codel_law *law, __u32 inv_sqrt)
{
	return law->kind == CODEL_MAINLINE ? inv_sqrt & 0xffff0000U : inv_sqrt;
}

/* A new count. Linux starts anew with 1, and otherwise from the inverse square root before. */
static inline void codel_set_count(struct codel *codel, const struct codel_law *law, __u32 count)
{
	__u32 inv_sqrt = codel->inv_sqrt;

	codel->count = count;
	if (count == 1)
		inv_sqrt = CODEL_ONE;
	else if (!law->steps)
		inv_sqrt = codel_inv_sqrt(count);
	for (int i = 0; count > 1 && i < law->steps && i < CODEL_STEPS_MAX; i++)
		inv_sqrt = codel_newton(inv_sqrt, count);
	codel->inv_sqrt = codel_kept(law, inv_sqrt);
}

/* interval / sqrt(count) */
static inline __u32 codel_distance(const struct codel *codel, const struct codel_law *law)
{
	return (__u32)((__u64)law->interval * codel->inv_sqrt >> 32);
}

/* sqrt(share), both 2^-32. */
static inline __u32 codel_sqrt(__u32 share)
{
	return share ? (__u32)((__u64)share * codel_inv_sqrt(share) >> 16) : 0;
}

/* ---- the laws ---------------------------------------------------------------------- */

/* How long after the last signal a queue that comes back is the same congestion, in intervals. */
#define CODEL_REFINED_RECENT 8
#define CODEL_RECENT 16

static inline bool codel_was_recent(const struct codel *codel, const struct codel_law *law,
				    __u64 now)
{
	const __s64 intervals = law->kind == CODEL_REFINED ? CODEL_REFINED_RECENT : CODEL_RECENT;

	return (__s64)(now - codel->drop_next) < intervals * (__s64)law->interval;
}

/* Has each packet for an interval waited longer than the target, with more than a full frame behind
 * it? ns-2 gives a queue that comes back less than an interval.
 */
static inline bool codel_is_above(struct codel *codel, const struct codel_law *law, __u64 now,
				  __u64 enqueued, __u32 how)
{
	__u32 grace = law->interval;

	if (how & CODEL_LAST || now - enqueued < law->target) {
		codel->first_above = 0;
		return false;
	}
	if (codel->first_above)
		return law->kind == CODEL_REFINED ? now >= codel->first_above
						  : now > codel->first_above;
	if (law->kind == CODEL_REFINED && codel->count > 1 && codel_was_recent(codel, law, now))
		grace = codel_distance(codel, law);
	codel->first_above = now + grace;
	return false;
}

/* The count to begin with when the queue is above the target again. ns-2 takes two away;
 * where more than 126 are left, a 64th instead.
 */
static inline __u32 codel_count_again(const struct codel *codel, const struct codel_law *law,
				      __u64 now)
{
	const __u32 count = codel->count, grown = count - codel->last_count;

	if (!codel_was_recent(codel, law, now))
		return 1;
	switch (law->kind) {
	case CODEL_REFINED:
		if (count > 128)
			return (__u32)((__u64)count * 63 / 64);
		return count > 2 ? count - 2 : 1;
	case CODEL_2012:
		return count ? codel->last_count + grown / 2 : 1;
	default:
		return grown > 1 ? grown : 1;
	}
}

static inline void codel_begin(struct codel *codel, const struct codel_law *law, __u64 now)
{
	codel->dropping = 1;
	codel->has_dropped = 0;
	codel_set_count(codel, law, codel_count_again(codel, law, now));
	codel->last_count = codel->count;
	codel->drop_next = now + codel_distance(codel, law);
}

/* While dropping: is a signal due? The patch of 2012 counts those that are due at once as one. */
static inline bool codel_goes_on(struct codel *codel, const struct codel_law *law, __u64 now,
				 __u32 how)
{
	const bool is_next = codel->has_dropped;

	codel->has_dropped = 0;
	if (is_next)
		codel->drop_next += codel_distance(codel, law);
	if (now < codel->drop_next)
		return false;
	if (!is_next || law->kind != CODEL_2012)
		codel_set_count(codel, law, codel->count + 1);
	codel->has_dropped = !(how & CODEL_MARKS) && law->kind != CODEL_REFINED;
	if (!codel->has_dropped)
		codel->drop_next += codel_distance(codel, law);
	return true;
}

static inline bool codel_decide(struct codel *codel, const struct codel_law *law, __u64 now,
				__u64 enqueued, __u32 how)
{
	if (!codel_is_above(codel, law, now, enqueued, how)) {
		codel->dropping = 0;
		codel->has_dropped = 0;
		return false;
	}
	if (codel->dropping)
		return codel_goes_on(codel, law, now, how);
	codel_begin(codel, law, now);
	return true;
}

/* A packet leaves the queue at `now_ns` of CLOCK_MONOTONIC, after `sojourn_ns`: is it to be
 * signalled? `how`: CODEL_LAST, CODEL_MARKS.
 */
static inline bool codel_signals(struct codel *codel, const struct codel_law *law, __u64 now_ns,
				 __u64 sojourn_ns, __u32 how)
{
	bool signals = codel_decide(codel, law, now_ns >> CODEL_SHIFT,
				    (now_ns - sojourn_ns) >> CODEL_SHIFT, how);

	codel->packets++;
	codel->signals += signals;
	return signals;
}

/* How long until the next signal is due, in ns; 0: now, or none is. */
static inline __u64 codel_next_ns(const struct codel *codel, __u64 now_ns)
{
	const __u64 now = now_ns >> CODEL_SHIFT;

	return codel->dropping && codel->drop_next > now ? (codel->drop_next - now) << CODEL_SHIFT
							 : 0;
}

/* From the parameters, times in ns. */
static inline struct codel_law codel_make(__u64 target_ns, __u64 interval_ns, __u8 kind, __u8 steps)
{
	return (struct codel_law){
		.target = (__u32)(target_ns >> CODEL_SHIFT),
		.interval = (__u32)(interval_ns >> CODEL_SHIFT),
		.kind = kind,
		.steps = kind == CODEL_MAINLINE ? 1 : steps,
	};
}

/* ---- the share of packets that it signals ---------------------------------------------- */

/* The weight of what was signalled since the last update, 2^-32: an EWMA over an interval. A time
 * of more than 4 s counts as 4 s, whose product fits.
 */
#define CODEL_SINCE_MAX_NS 4000000000ULL

static inline __u32 codel_weight(__u64 since_ns, __u64 interval_ns)
{
	if (since_ns > CODEL_SINCE_MAX_NS)
		since_ns = CODEL_SINCE_MAX_NS;
	return (__u32)((since_ns << 32) / (since_ns + interval_ns));
}

/* A period ends: the share with what was signalled in it, 2^-32. Packets may leave meanwhile: it
 * only reads what codel_signals() writes.
 */
static inline __u32 codel_share(struct codel *codel, __u32 weight)
{
	const __u32 signals = codel->signals - codel->seen_signals;
	const __u32 packets = codel->packets - codel->seen_packets;
	__u64 now = signals < packets ? ((__u64)signals << 32) / packets : signals ? CODEL_ONE : 0;

	codel->seen_signals += signals;
	codel->seen_packets += packets;
	codel->share = (__u32)(((__u64)codel->share * (CODEL_ONE - weight) + now * weight) >> 32);
	return codel->share;
}

#endif /* DUALPI2_CODEL_H */
