/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which Classic flows wait in the L queue. A call, a game, DNS, the first packets of a page and the
 * ACKs of a download do not speak L4S, but they build no queue either: in a fair queue they would
 * not wait. A DualQ has one queue for all that wait and one for those that do not have to, and an
 * operator may let other traffic than L4S into L (RFC 9331, 5.4.1.1).
 *
 * A flow is sparse while it takes less than a fair share: of the link divided by the flows that
 * wait in C and one. Its packets are then served as L, and L's AQM leaves them alone, so what they
 * may do to L is bounded:
 *
 *	a flow		leaks its bytes at its share, and may be ahead of that by a burst
 *	all of them	leak theirs at half of the link. The further they are ahead of that
 *			together, the smaller is the burst that each may have: who sends most
 *			goes first, who sends little stays
 *
 * Who sends more has grown: it stays in C (stay.h), so that nothing is reordered: C is slower.
 */
#ifndef DUALPI2_SPARSE_H
#define DUALPI2_SPARSE_H

#include "dualpi2.h"
#include "stay.h"

/* Flows that the link is shared by, at least and at most: so much of it one flow may have if it is
 * alone, and so much remains for one beside a crowd. But on a slow link a share is never less than
 * a voice call needs, bytes/s: G.711 with its headers is 87 kbit/s.
 */
#define SPARSE_SHARES_MIN 4
#define SPARSE_SHARES_MAX 32
#define SPARSE_SHARE_LEAST (100000ULL / 8)

/* What a flow may send at once: so many full frames, or what the link carries in that time, ns. */
#define SPARSE_BURST_FRAMES 2
#define SPARSE_BURST_NS (500 * DUALPI2_NSEC_PER_USEC)

/* Part of the link that all sparse flows have together, and how far ahead of it they may be, in
 * bursts of one.
 */
#define SPARSE_PART 2
#define SPARSE_BURSTS 2

/* How long a flow that has grown stays in C at least, ns: some round trips. It is remembered for
 * SPARSE_MEMORY_NS after its latest packet there, longer than C delays one.
 */
#define SPARSE_STAY_NS (200 * DUALPI2_NSEC_PER_MSEC)
#define SPARSE_MEMORY_NS (8 * DUALPI2_NSEC_PER_SEC)

/* Flows in C are counted over this time, ns: longer than most round trips, in which a flow may send
 * but once.
 */
#define SPARSE_COUNT_NS (256 * DUALPI2_NSEC_PER_MSEC)

/* Times of a byte are in parts of a ns: 2^-SPARSE_SHIFT. */
#define SPARSE_SHIFT 16

/* What follows from the parameters: how long the link takes. */
struct sparse_law {
	__u64 byte_time; /* for a byte, rounded up */
	__u64 burst_ns;	 /* for a burst */
	__u32 shares_max;
};

/* What is known of one flow. Any CPU writes it without a lock: an update may be lost. */
struct sparse_flow {
	__u64 leaked_ns; /* when its share has leaked what it sent; 0: nothing */
	struct stay stay;
};

/* What all flows do to a DualQ, likewise. */
struct sparse_all {
	__u64 leaked_ns;  /* when their part of the link has leaked what they sent */
	__u64 unknown_ns; /* when a packet last went to C of which nothing is remembered */
	__u64 count_ns;	  /* since when flows in C are counted */
	__u32 counted;	  /* so far */
	__u32 before;	  /* in the time before */
	__u32 shares;	  /* sparse_shares() of that */
};

/* How long the link takes for `len` bytes, ns; never 0: no packet is for nothing. */
static inline __u64 sparse_link_ns(const struct sparse_law *law, __u32 len)
{
	return (len * law->byte_time >> SPARSE_SHIFT) + 1;
}

/* `rate`: of the link, bytes/s; 0: unknown, and nobody may ask who is sparse. `frame_len`: of a
 * full frame, bytes on the link.
 */
static inline struct sparse_law sparse_make(__u64 rate, __u32 frame_len)
{
	struct sparse_law law = {};

	if (!rate)
		return law;
	law.byte_time = ((DUALPI2_NSEC_PER_SEC << SPARSE_SHIFT) + rate - 1) / rate;
	law.burst_ns = SPARSE_BURST_FRAMES * sparse_link_ns(&law, frame_len);
	if (law.burst_ns < SPARSE_BURST_NS)
		law.burst_ns = SPARSE_BURST_NS;
	law.shares_max = SPARSE_SHARES_MAX;
	if (rate / SPARSE_SHARE_LEAST < law.shares_max)
		law.shares_max = (__u32)(rate / SPARSE_SHARE_LEAST);
	return law;
}

/* By how many the link is shared: the flows in C, and the one that asks. */
static inline __u32 sparse_shares(const struct sparse_law *law, const struct sparse_all *all)
{
	__u32 shares = (all->counted > all->before ? all->counted : all->before) + 1;

	if (shares > law->shares_max)
		shares = law->shares_max;
	return shares > SPARSE_SHARES_MIN ? shares : SPARSE_SHARES_MIN;
}

/* Time passes: the count of flows in C begins anew. */
static inline void sparse_count_on(const struct sparse_law *law, struct sparse_all *all, __u64 now)
{
	if (now < all->count_ns + SPARSE_COUNT_NS)
		return;
	all->before = now < all->count_ns + 2 * SPARSE_COUNT_NS ? all->counted : 0;
	all->counted = 0;
	all->shares = sparse_shares(law, all);
	all->count_ns = now;
}

/* A packet of the flow goes to C. */
static inline void sparse_goes_to_c(const struct sparse_law *law, struct sparse_all *all,
				    struct sparse_flow *flow, __u64 now)
{
	if (flow->stay.last_ns < all->count_ns) {
		all->counted++;
		all->shares = sparse_shares(law, all);
	}
	flow->stay.last_ns = now;
}

/* How far somebody is ahead who may be so far at most. More was allowed when the rate was lower or
 * the link shared by more: that does not count.
 */
static inline __u64 sparse_ahead(__u64 leaked_ns, __u64 now, __u64 most_ns)
{
	__u64 ahead = leaked_ns - now; /* if that was in the past, more than any most */

	if (ahead <= most_ns)
		return ahead;
	return ahead - most_ns <= DUALPI2_SKEW_NS ? most_ns : 0;
}

/* May a packet of `len` bytes on the link, whose flow is not in C, be served as L? (Always inline,
 * as for each Classic packet a call costs a tenth of all that is done here.)
 */
static __always_inline bool sparse_fits(const struct sparse_law *law, struct sparse_all *all,
					struct sparse_flow *flow, __u32 len, __u64 now)
{
	const __u64 link_ns = sparse_link_ns(law, len);
	const __u64 flow_most_ns = law->burst_ns * all->shares;
	const __u64 all_most_ns = law->burst_ns * SPARSE_BURSTS * SPARSE_PART;
	const __u64 all_ns = sparse_ahead(all->leaked_ns, now, all_most_ns);
	const __u64 flow_ns =
		sparse_ahead(flow->leaked_ns, now, flow_most_ns) + link_ns * all->shares;

	/* What part of its most the flow takes, and what all of them: 1 together. Half of the room
	 * is for flows that are known, so that others which come one after the other, each with a
	 * packet, do not take it from them.
	 */
	if (flow_ns * SPARSE_BURSTS * SPARSE_PART + (all_ns << !flow->leaked_ns) * all->shares >
	    all_most_ns * all->shares)
		return false;
	flow->leaked_ns = now + flow_ns;
	all->leaked_ns = now + all_ns + link_ns * SPARSE_PART;
	return true;
}

/* May a flow of which nothing is remembered have packets in C? Then it stays there until they have
 * left.
 */
static inline bool sparse_may_be_in_c(const struct sparse_all *all, const struct sparse_flow *flow,
				      __u64 c_head_ns)
{
	return !flow->leaked_ns && !flow->stay.until_ns && c_head_ns &&
	       c_head_ns <= all->unknown_ns;
}

/* Is a Classic packet of `len` bytes on the link served as L? `c_head_ns`: as for stay_lasts(). */
static __always_inline bool sparse_is_l(const struct sparse_law *law, struct sparse_all *all,
					struct sparse_flow *flow, __u32 len, __u64 c_head_ns,
					__u64 now)
{
	sparse_count_on(law, all, now);
	if (sparse_may_be_in_c(all, flow, c_head_ns)) {
		flow->stay.until_ns = now;
	} else if (!stay_lasts(&flow->stay, c_head_ns, now)) {
		if (sparse_fits(law, all, flow, len, now))
			return true;
		flow->stay.until_ns = now + SPARSE_STAY_NS;
	}
	sparse_goes_to_c(law, all, flow, now);
	return false;
}

/* Is there nothing left to know of it? */
static inline bool sparse_is_forgotten(const struct sparse_flow *flow, __u64 now)
{
	return now >= flow->leaked_ns &&
	       (!flow->stay.until_ns || now >= stay_forgotten_ns(&flow->stay, SPARSE_MEMORY_NS));
}

#endif /* DUALPI2_SPARSE_H */
