/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose turn it is, in a qdisc with thousands of DualQs.
 *
 * Each has the same share of the link, and L does not wait within its share. Both queues of a DualQ
 * have one account, `deficit`: the bytes that it may still send. DualQs stand in lines, and the
 * first line that is not empty is served:
 *
 *	own	L waits, and the DualQ is within its share (deficit > 0): a packet each, in turn
 *	ahead	L waits, and it is not far beyond (TURNS_AHEAD_FRAMES): likewise
 *	fresh	anything waits that found it idle: its first quantum
 *	round	anything waits: deficit round robin. The first one sends while its deficit is
 *		above 0, then it is given a quantum and goes to the end
 *
 * So L waits for one packet of each other L within its share, and for no C. (While many begin to
 * flood L at the same time they are that far ahead together, once, and whoever has used a quantum
 * waits with them.) Who has L and C has the bytes of L taken off his own C, and L beyond what it
 * may be ahead waits for its round. Were own and ahead one line, L within its share would wait
 * behind all that is beyond; were own and fresh, behind the C of all who begin.
 *
 * A quantum is a full frame, as in fq_codel, or what a plan gives (plans.h). Who becomes idle stays
 * in the round until he is first there and has no debt; only then he can be fresh again. So who
 * comes and goes has a quantum per round, as everybody has, and no debt is forgiven while others
 * wait.
 *
 * A DualQ can be in several lines. It leaves a line only when it is first there and does not belong
 * there (any more). So nobody has to be told when a queue becomes empty, by a drop or by a limit.
 * Such a step is paid for by the packet with which it joined, or by the bytes for which it needs a
 * quantum; one call makes TURNS_STEPS at most, and then has to be made again.
 *
 * When nothing waits in the whole qdisc, a new epoch settles all accounts and empties all lines:
 * nobody walks through DualQs. No epoch comes twice, not even with another qdisc that has the same
 * DualQs later.
 *
 * All of it is written under the qdisc's lock.
 */
#ifndef DUALPI2_TURNS_H
#define DUALPI2_TURNS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* How far beyond its share L may be and still go before C of others, in full frames: a burst of an
 * L4S flow. Without, L of who has C as well would wait for a round whenever C has used its share.
 */
#define TURNS_AHEAD_FRAMES 8

/* A full frame is cut to this, bytes, so that a deficit fits in 32 bits with any packet
 * (SCHEDULER_FRAME_MAX of scheduler.h).
 */
#define TURNS_FRAME_MAX (1 << 20)

/* Steps that one call takes at most. */
#define TURNS_STEPS 64

/* Who is first or next in a line, or has the turn. */
#define TURNS_NOBODY 0xffff   /* no DualQ: numbers are less */
#define TURNS_UNKNOWN 0x10000 /* not found in TURNS_STEPS: ask again */

/* What waits in a DualQ, as bits. */
#define TURNS_L 1
#define TURNS_C 2

enum turns_which {
	TURNS_OWN,
	TURNS_AHEAD,
	TURNS_FRESH,
	TURNS_ROUND,
	TURNS_LINES,
};

/* It stands apart, where something else than its account holds it back (plans.h): as a bit of
 * turns_dualq.lines, and its place in turns_dualq.next.
 */
#define TURNS_APART TURNS_LINES

/* Numbers of the first and the last one; TURNS_NOBODY: it is empty. */
struct turns_line {
	__u16 first, last;
};

/* Part of a DualQ. Anything may be in it before the DualQ's first packet. */
struct turns_dualq {
	__u64 epoch;   /* to which the rest belongs; in another one it means nothing */
	__s32 deficit; /* bytes that it may still send; less than 0: its debt */
	__u16 next[TURNS_LINES + 1]; /* who is behind it in a line, unless it is the last there */
	__u8 lines;		     /* bit by enum turns_which: it is in this line */
};

/* Part of a qdisc. */
struct turns {
	struct turns_line line[TURNS_LINES];
	__u64 epoch; /* begins with the qdisc's start, ns: it grows by less than one in each */
	__s32 quantum, ahead; /* a full frame and TURNS_AHEAD_FRAMES of them, bytes */
};

/* Whoever includes this has the DualQs, and says where one is (NULL: there is none, so that it has
 * no turn), what waits in it, TURNS_L | TURNS_C, how much its quantum is, bytes, and whether
 * something holds it back that is first in a line: then it stands apart, and whoever has put it
 * there brings it back.
 */
static inline struct turns_dualq *turns_dualq_at(struct turns *turns, __u32 number);
static inline __u32 turns_waiting(const struct turns_dualq *dualq);
static inline __s32 turns_quantum(const struct turns *turns, const struct turns_dualq *dualq);
static inline bool turns_holds(struct turns *turns, enum turns_which which,
			       struct turns_dualq *dualq, __u32 number, __u32 waiting);

/* ---- lines ----------------------------------------------------------------------- */

static inline void turns_join(struct turns *turns, enum turns_which which,
			      struct turns_dualq *dualq, __u32 number)
{
	struct turns_line *line = &turns->line[which];
	struct turns_dualq *last;

	if (dualq->lines & 1 << which)
		return;
	if (line->first == TURNS_NOBODY) {
		line->first = number;
	} else {
		last = turns_dualq_at(turns, line->last);
		if (!last)
			return;
		last->next[which] = number;
	}
	line->last = number;
	dualq->lines |= 1 << which;
}

/* It is the first there. */
static inline void turns_leave(struct turns *turns, enum turns_which which,
			       struct turns_dualq *dualq)
{
	struct turns_line *line = &turns->line[which];

	line->first = line->first == line->last ? TURNS_NOBODY : dualq->next[which];
	dualq->lines &= ~(1 << which);
}

/* The line that is served; TURNS_LINES: all are empty. */
static inline __u32 turns_served(const struct turns *turns)
{
	__u32 which;

	for (which = 0; which < TURNS_LINES; which++)
		if (turns->line[which].first != TURNS_NOBODY)
			break;
	return which;
}

/* ---- who belongs where ------------------------------------------------------------- */

/* May it be served from this line? */
static inline bool turns_belongs(const struct turns *turns, enum turns_which which,
				 const struct turns_dualq *dualq, __u32 waiting)
{
	switch (which) {
	case TURNS_OWN:
		return waiting & TURNS_L && dualq->deficit > 0;
	case TURNS_AHEAD:
		return waiting & TURNS_L && dualq->deficit > -turns->ahead;
	default:
		return waiting && dualq->deficit > 0;
	}
}

/* L waits in it: does it go before others? */
static inline void turns_put_first(struct turns *turns, struct turns_dualq *dualq, __u32 number)
{
	if (dualq->deficit > 0)
		turns_join(turns, TURNS_OWN, dualq, number);
	else if (dualq->deficit > -turns->ahead)
		turns_join(turns, TURNS_AHEAD, dualq, number);
}

/* It is given a quantum, and is last in the round. */
static inline void turns_give(struct turns *turns, struct turns_dualq *dualq, __u32 number,
			      __u32 waiting)
{
	dualq->deficit += turns_quantum(turns, dualq);
	turns_join(turns, TURNS_ROUND, dualq, number);
	if (waiting & TURNS_L)
		turns_put_first(turns, dualq, number);
}

/* It has left this line, as it did not belong there: to where? */
static inline void turns_go_on(struct turns *turns, enum turns_which from,
			       struct turns_dualq *dualq, __u32 number, __u32 waiting)
{
	switch (from) {
	case TURNS_OWN:
		if (waiting & TURNS_L)
			turns_put_first(turns, dualq, number);
		break;
	case TURNS_FRESH:
		turns_join(turns, TURNS_ROUND, dualq, number);
		break;
	case TURNS_ROUND:
		if (dualq->deficit <= 0)
			turns_give(turns, dualq, number, waiting);
		break;
	default: /* far beyond its share: the round puts it first again */
		break;
	}
}

/* ---- what a qdisc calls ------------------------------------------------------------ */

/* `frame_len`: of a full frame, bytes as turns_charge() counts them; not 0. It may change while
 * packets wait.
 */
static inline void turns_set_frame(struct turns *turns, __u32 frame_len)
{
	turns->quantum = frame_len < TURNS_FRAME_MAX ? (__s32)frame_len : TURNS_FRAME_MAX;
	turns->ahead = TURNS_AHEAD_FRAMES * turns->quantum;
}

/* Nothing waits: all lines are empty and all accounts settled. */
static inline void turns_settle(struct turns *turns)
{
	__u32 which;

	turns->epoch++;
	for (which = 0; which < TURNS_LINES; which++)
		turns->line[which].first = TURNS_NOBODY;
}

/* A qdisc starts. */
static inline void turns_start(struct turns *turns, __u32 frame_len, __u64 now)
{
	turns->epoch = now;
	turns_set_frame(turns, frame_len);
	turns_settle(turns);
}

/* A packet was queued in `dualq`, which has this number. */
static inline void turns_arrive(struct turns *turns, struct turns_dualq *dualq, __u32 number,
				bool in_l)
{
	if (dualq->epoch != turns->epoch) {
		dualq->epoch = turns->epoch;
		dualq->lines = 0;
	}
	if (!(dualq->lines & (1 << TURNS_FRESH | 1 << TURNS_ROUND))) {
		dualq->deficit = turns_quantum(turns, dualq);
		turns_join(turns, TURNS_FRESH, dualq, number);
	}
	if (in_l)
		turns_put_first(turns, dualq, number);
}

/* Whose turn it is, if the first one of the line that is served belongs there: `*first`, and its
 * number. It makes way if not.
 */
static inline __u32 turns_step(struct turns *turns, struct turns_dualq **first)
{
	const __u32 which = turns_served(turns);
	struct turns_dualq *dualq;
	__u32 number, waiting;

	if (which == TURNS_LINES)
		return TURNS_NOBODY;
	number = turns->line[which].first;
	dualq = turns_dualq_at(turns, number);
	if (!dualq || dualq->epoch != turns->epoch) /* another one is in its place */
		return TURNS_NOBODY;
	*first = dualq;
	waiting = turns_waiting(dualq);
	if (turns_holds(turns, which, dualq, number, waiting)) {
		turns_leave(turns, which, dualq);
		return TURNS_UNKNOWN;
	}
	if (!turns_belongs(turns, which, dualq, waiting)) {
		turns_leave(turns, which, dualq);
		turns_go_on(turns, which, dualq, number, waiting);
		return TURNS_UNKNOWN;
	}
	if (which <= TURNS_AHEAD && number != turns->line[which].last) {
		turns_leave(turns, which, dualq);
		turns_join(turns, which, dualq, number);
	}
	return number;
}

/* A loop that the verifier walks once (bpf_helpers.h). */
#ifdef __bpf__
#define TURNS_FOR(i, count) bpf_for(i, 0, count)
#else
#define TURNS_FOR(i, count) for ((i) = 0; (i) < (count); (i)++)
#endif

/* Whose turn it is, while packets wait: a number, or TURNS_UNKNOWN. TURNS_NOBODY: nothing waits, or
 * DualQs have gone.
 */
static inline __u32 turns_next(struct turns *turns)
{
	struct turns_dualq *first;
	__u32 i, number;

	TURNS_FOR(i, TURNS_STEPS) {
		number = turns_step(turns, &first);
		if (number != TURNS_UNKNOWN)
			return number;
	}
	return TURNS_UNKNOWN;
}

/* The DualQ whose turn it was has sent `len` bytes (less than 2^30). */
static inline void turns_charge(struct turns_dualq *dualq, __u32 len)
{
	dualq->deficit -= (__s32)len;
}

#endif /* DUALPI2_TURNS_H */
