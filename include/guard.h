/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who may stay in the L queue. L4S senders keep it short, so a queue that is long has a flow that
 * does not: one that ignores marks, or sends more than there is room for. The coupling cannot help
 * (RFC 9332, 4.2.3): whoever obeys leaves the link to who does not.
 *
 * Like the queue protection of DOCSIS (RFC 9957) the guard asks of each flow how much of a long
 * queue is its doing, and moves the worst to C. There it is a Classic flow like others, and all of
 * those together have a share of the link. Unlike DOCSIS it moves the whole flow, for a while, and
 * not single packets, which would arrive out of order.
 *
 *	blame		the bytes that a flow sends while L is long. It drains at an
 *			allowance, as the bucket of RFC 9957, 4.2 does
 *	conviction	more blame than the bucket holds, while L is very long: the flow is out
 *			of L for a time, a longer one each time. Who was out before is out again,
 *			too, if it takes the link from a C that is long
 *	release		after that time, once none of its packets waits in C: nothing is
 *			reordered
 */
#ifndef DUALPI2_GUARD_H
#define DUALPI2_GUARD_H

#include "dualpi2.h"
#include "laqm.h"
#include "sparse.h"
#include "stay.h"

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif

/* L is long from twice its step on, but never below this, ns, or two full frames: bursts that a
 * lower step marks are nobody's fault.
 */
#define GUARD_LONG_MIN_NS (2 * DUALPI2_NSEC_PER_MSEC)

/* More frames than these, which take long on any link, would not fit 64 bits as a time. */
#define GUARD_FRAMES_MAX 100000

/* Blame drains at an eighth of the link's rate, within these bounds, bytes/s; of a link that is
 * slower than the lower one, at half.
 */
#define GUARD_ALLOWANCE_PART 8
#define GUARD_ALLOWANCE_MIN (1000000ULL / 8)
#define GUARD_ALLOWANCE_MAX (2000000ULL / 8)

/* Blame that is one too much: what the link carries in a fortieth of a second, so that a sender who
 * obeys has had a round trip to do so; but never less than so many bytes or frames, which is a
 * small window.
 */
#define GUARD_BLAME_PART 40
#define GUARD_BLAME_MIN 26000
#define GUARD_BLAME_FRAMES 17

/* A flow that was convicted before has less room: half of the delay, and half of the blame each
 * time, down to an eighth. On links below GUARD_STRICT_RATE, bytes/s, a few innocent frames would
 * be that.
 */
#define GUARD_STRICTER_MAX 3
#define GUARD_STRICT_RATE (10000000ULL / 8)

/* Who was convicted before is also out of L if it takes more than a part of the link while C waits
 * for longer than twice its target, and this at least, ns: a TCP that hears of no mark, back in L,
 * takes the link from C little by little, and L is short until it has all of it. It may be ahead of
 * that part by GUARD_TAKES_NS.
 */
#define GUARD_C_LONG_MIN_NS (30 * DUALPI2_NSEC_PER_MSEC)
#define GUARD_TAKES_PART 2
#define GUARD_TAKES_NS (8 * DUALPI2_NSEC_PER_MSEC)

/* How long a flow is out of L, ns: twice as long each time. What it did before is forgotten when it
 * was not convicted for GUARD_MEMORY_NS.
 */
#define GUARD_TERM_NS (256 * DUALPI2_NSEC_PER_MSEC)
#define GUARD_TERM_DOUBLINGS 4
#define GUARD_MEMORY_NS (8 * DUALPI2_NSEC_PER_SEC)

/* Part of the link that convicts may have together while C waits, and how far ahead of it they may
 * be, ns: so long their own packets would take at that share.
 */
#define GUARD_SHARE_PART 4
#define GUARD_AHEAD_NS (20 * DUALPI2_NSEC_PER_MSEC)

/* What follows from the parameters. */
struct guard_law {
	__u64 rate;	    /* of the link, bytes/s; 0: unknown */
	__u64 long_ns;	    /* L that is longer has somebody to blame */
	__u64 no_queue_ns;  /* two frames, and what may be sparse: however often one was out */
	__u64 c_long_ns;    /* C that is longer has somebody to blame who was out; ~0: never */
	__u64 long_bytes;   /* what takes long_ns on a shaped link; else GUARD_BLAME_MIN */
	__u64 blame_max_ns; /* to drain the blame that is too much */
	__u32 ns_per_byte;  /* of blame, to drain */
	__u32 stricter_max; /* how often it may halve */
	__u64 share;	    /* bytes/s that convicts may have; 0: the link is not shaped */
	__u64 ahead_ns;	    /* and how far ahead they may be */
};

/* What is known of one flow. Any CPU writes it without a lock: an update may be lost. */
struct guard_flow {
	__u64 blamed_until_ns; /* when its blame has drained */
	struct stay stay;      /* its latest term */
	__u32 terms;	       /* that it had */
	__u32 takes_until;     /* when what it took of the link while C is long is through:
				  guard_clock() */
};

static inline __u64 guard_ns(__u64 bytes, __u64 rate)
{
	return bytes * DUALPI2_NSEC_PER_SEC / rate;
}

static inline __u64 guard_larger(__u64 one, __u64 other)
{
	return one > other ? one : other;
}

/* Bytes/s at which blame drains. */
static inline __u64 guard_allowance(__u64 rate)
{
	__u64 least = rate / 2 < GUARD_ALLOWANCE_MIN ? rate / 2 : GUARD_ALLOWANCE_MIN;
	__u64 allowance = guard_larger(rate / GUARD_ALLOWANCE_PART, least);

	return rate && allowance < GUARD_ALLOWANCE_MAX ? allowance : GUARD_ALLOWANCE_MAX;
}

/* Full frames that L may hold before its own AQM marks, where that counts packets. */
static inline __u64 guard_frames(const struct dualpi2_params *params)
{
	bool counts = params->l_aqm == DUALPI2_L_STEP && params->step_in_packets;
	__u64 frames = guard_larger(counts ? params->step_packets : 0, params->min_qlen_step);

	return frames < GUARD_FRAMES_MAX ? frames : GUARD_FRAMES_MAX;
}

/* `rate`: of the link, bytes/s; 0: unknown. `l_share`: of it, what L has at least, percent.
 * `frame_len`: of a full frame, bytes. `c_delay_ns`: at which the AQM holds C; 0: at none.
 */
static inline struct guard_law guard_make(const struct dualpi2_params *params, __u64 rate,
					  __u8 l_share, __u32 frame_len, __u64 c_delay_ns)
{
	__u64 blame_max = guard_larger(GUARD_BLAME_MIN, GUARD_BLAME_FRAMES * (__u64)frame_len);
	__u64 spare_ns; /* what may be sparse in L is nobody's fault */
	struct guard_law law = {
		.rate = rate,
		.long_ns = guard_larger(2 * laqm_sure_delay(params), GUARD_LONG_MIN_NS),
		.c_long_ns = ~0ULL,
		.long_bytes = GUARD_BLAME_MIN,
		.ns_per_byte = DUALPI2_NSEC_PER_SEC / guard_allowance(rate),
		.stricter_max = GUARD_STRICTER_MAX,
	};

	if (rate) {
		law.no_queue_ns = guard_ns(2ULL * frame_len, rate);
		if (l_share)
			law.no_queue_ns = law.no_queue_ns * 100 / l_share;
		law.long_ns = guard_larger(law.long_ns, law.no_queue_ns);
		law.long_ns = guard_larger(law.long_ns,
					   guard_ns(2 * guard_frames(params) * frame_len, rate));
		if (params->sparse) {
			spare_ns = SPARSE_BURSTS * sparse_make(rate, frame_len).burst_ns;
			law.long_ns += spare_ns;
			law.no_queue_ns += spare_ns;
		}
		law.long_bytes = ~0ULL;
		if (law.long_ns < 8 * DUALPI2_NSEC_PER_SEC) /* more would not fit 64 bits */
			law.long_bytes = law.long_ns / 1000 * rate / 1000000;
		blame_max = guard_larger(blame_max, rate / GUARD_BLAME_PART);
		law.share = rate / GUARD_SHARE_PART;
		law.ahead_ns = guard_larger(GUARD_AHEAD_NS, guard_ns(2ULL * frame_len, law.share));
		if (rate < GUARD_STRICT_RATE)
			law.stricter_max = 0;
		else if (c_delay_ns)
			law.c_long_ns = guard_larger(2 * c_delay_ns, GUARD_C_LONG_MIN_NS);
	}
	law.blame_max_ns = blame_max * law.ns_per_byte;
	return law;
}

/* Blame for a packet of `len` bytes that finds L `delay_ns` long, in ns to drain: none up to
 * `long_ns`, all of its bytes from twice that on.
 */
static inline __u64 guard_blame(const struct guard_law *law, __u64 long_ns, __u64 delay_ns,
				__u32 len)
{
	__u64 blame = (__u64)len * law->ns_per_byte, above;

	if (delay_ns <= long_ns)
		return 0;
	above = delay_ns - long_ns;
	return above < long_ns ? blame * above / long_ns : blame;
}

/* Terms that still count: from their end, or the flow's latest packet in C. */
static inline __u32 guard_terms(const struct guard_flow *flow, __u64 now)
{
	return now < stay_forgotten_ns(&flow->stay, GUARD_MEMORY_NS) ? flow->terms : 0;
}

/* A flow goes out of L, for a longer time each time. */
static inline void guard_begin_term(struct guard_flow *flow, __u32 terms, __u64 now)
{
	__u32 doublings = terms < GUARD_TERM_DOUBLINGS ? terms : GUARD_TERM_DOUBLINGS;

	flow->stay.until_ns = now + (GUARD_TERM_NS << doublings);
	flow->terms = terms + 1;
	flow->blamed_until_ns = now;
	flow->takes_until = 0;
}

/* Add the blame for a packet that finds L so long; true: that is too much, and a term begins. */
static inline bool guard_convicts(const struct guard_law *law, struct guard_flow *flow,
				  __u64 delay_ns, __u32 len, __u64 now)
{
	__u32 terms = guard_terms(flow, now);
	__u32 stricter = terms < law->stricter_max ? terms : law->stricter_max;
	__u64 long_ns = guard_larger(law->long_ns >> (stricter > 0), law->no_queue_ns);
	__u64 blame = guard_blame(law, long_ns, delay_ns, len), until = flow->blamed_until_ns;

	if (!blame)
		return false;
	until = (until > now ? until : now) + blame;
	if (until - now > law->blame_max_ns) /* it drains as soon as L is short */
		until = now + law->blame_max_ns;
	flow->blamed_until_ns = until;
	if (delay_ns <= 2 * long_ns || until - now < law->blame_max_ns >> stricter)
		return false;
	guard_begin_term(flow, terms, now);
	return true;
}

/* Time of struct guard_flow in units of 2^10 ns, which 32 bits have for an hour. */
static inline __u32 guard_clock(__u64 ns)
{
	return (__u32)(ns >> 10);
}

/* Is it too much what a flow that was out before takes of the link, while C is so long? Then a term
 * begins.
 */
static inline bool guard_takes_link(const struct guard_law *law, struct guard_flow *flow,
				    __u64 c_ns, __u32 len, __u64 now)
{
	const __u32 most = guard_clock(GUARD_TAKES_NS);
	__u32 terms, ahead;

	if (c_ns <= law->c_long_ns)
		return false;
	terms = guard_terms(flow, now);
	if (!terms)
		return false;
	ahead = flow->takes_until - guard_clock(now);
	if (ahead > most) /* that was in the past, if not by another CPU's clock */
		ahead = ahead - most <= guard_clock(DUALPI2_SKEW_NS) ? most : 0;
	ahead += guard_clock(guard_ns(GUARD_TAKES_PART * (__u64)len, law->rate));
	flow->takes_until = guard_clock(now) + ahead;
	if (ahead <= most)
		return false;
	guard_begin_term(flow, terms, now);
	return true;
}

/* Is there nothing left to know of it? */
static inline bool guard_is_forgotten(const struct guard_flow *flow, __u64 now)
{
	return now >= flow->blamed_until_ns && now >= flow->stay.until_ns &&
	       !guard_terms(flow, now);
}

/* Its blame as a part of what is too much, percent: from 100 on it is convicted as soon as L is
 * long enough. `blame_max_ns` and `stricter_max`: as in struct guard_law.
 */
static inline __u64 guard_score(const struct guard_flow *flow, __u64 blame_max_ns,
				__u32 stricter_max, __u64 now)
{
	__u32 terms = guard_terms(flow, now);
	__u32 stricter = terms < stricter_max ? terms : stricter_max;
	__u64 percent = (blame_max_ns >> (stricter & 31)) / 100;

	if (flow->blamed_until_ns <= now || !percent)
		return 0;
	return (flow->blamed_until_ns - now) / percent;
}

/* Convicts share a part of the link: `*until_ns` is when what they sent so far is through at that
 * rate. True: a packet of theirs is more than that.
 */
static inline bool guard_polices(const struct guard_law *law, __u64 *until_ns, __u32 len, __u64 now)
{
	__u64 from = *until_ns > now ? *until_ns : now;

	if (!law->share)
		return false;
	if (from - now > law->ahead_ns)
		return true;
	*until_ns = from + guard_ns(len, law->share);
	return false;
}

#endif /* DUALPI2_GUARD_H */
