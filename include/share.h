/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One link for the queues of many qdiscs, on many CPUs at once: when each packet may leave.
 *
 * A packet gets its place on the link when it is queued. Its qdisc only holds it until then. So
 * nobody takes turns and nobody asks the others: all that they share are two clocks, from which
 * each packet takes as much as it is long.
 *
 * The clocks count work, not time: what the link sends, in 2^-SHARE_FRACTION bytes.
 *
 *	W	what it could have sent until now: grows with the rate
 *	U	the part of it that is L's: all, but for gaps
 *	V	the part that L has left: W less what L has sent
 *
 *	in L	starts at max(l_end, U + what C has under way as it comes), due when U is there
 *	in C	starts at max(c_end, V), due when V is there
 *
 * and l_end, c_end move on by its length. V stands still while L sends, so L does not wait for
 * what is queued in C, only for the packet that is under way, and C has what L leaves. While C
 * waits, each packet of L takes more than its length: in the gaps C sends what is reserved for it.
 * One that took no gap, because it came before C did, makes U stand still for that as it leaves.
 * What C starts in any interval is at most the growth of V there, and a packet; L is spaced by its
 * own clock. So the sum is exact for any number of queues, but for three packets (one of L, one of
 * C, and one of L under way for which V will have stood still) and the timers that are late.
 *
 * A change of the rate is another pace of W. No packet that is queued notices.
 *
 * Clocks wrap. One that lags behind by half of the numbers looks ahead: see share_wake().
 */
#ifndef DUALPI2_SHARE_H
#define DUALPI2_SHARE_H

#include "shaper.h"

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* At the highest rate a ns is 2^19 of it, at the lowest one 2^-8. */
#define SHARE_FRACTION 12

/* A packet remembers its start in units of 16 bytes, rounded up, as 32 bits; 0: it was due when it
 * came.
 */
#define SHARE_SLOT_SHIFT 16
#define SHARE_SLOT_WORK (1ULL << SHARE_SLOT_SHIFT)
#define SHARE_SLOTS_WORK (SHARE_SLOT_WORK << 32)

/* A start that is no more than this ahead (8 GiB) is ahead, any other is past. What is queued on a
 * link is less: its memory, which is more than its bytes, is counted in 32 bits (`memlimit`).
 */
#define SHARE_AHEAD_MAX (1ULL << (33 + SHARE_FRACTION))

/* A head that is late by more of the rate has lost its place (share_move()), ns: as much as the
 * shaper of a single qdisc may catch up.
 */
#define SHARE_SLACK_NS 1000000ULL

/* A packet of L that waits for one of C under way starts 2^-SHARE_FIRST of SHARE_SLACK_NS before
 * the next one of C could, so that it is first: 16 us, within which timers are on time.
 */
#define SHARE_FIRST 6

/* A packet of C is no longer (1 MiB). What seems to be under way beyond it is of long ago. */
#define SHARE_UNDER_WAY_MAX (1ULL << (20 + SHARE_FRACTION))

/* Who changes the clock's pace (100 times a second) writes another one of so many. A reader would
 * have to be interrupted for so many changes between two loads to see parts of two.
 */
#define SHARE_PACES 4

/* From `at_ns` on: W = at_work + (now - at_ns) * mult / 2^shift. */
struct share_pace {
	__u64 at_ns;
	__u64 at_work;
	__u32 mult; /* 0: the link is not shaped */
	__u32 shift;
	__u64 slack; /* work of SHARE_SLACK_NS */
};

struct share {
	/* Every packet writes here. */
	__u64 l_end;	 /* on U */
	__u64 c_end;	 /* on V */
	__u64 l_sent;	 /* what L has sent, and what was lost: W - V */
	__u64 l_gaps;	 /* what L leaves, and what was lost: W - U */
	__u64 held;	 /* what waits: SHARE_PACKET for each skb, and bytes */
	__u64 memory;	 /* SHARE_PACKET for each packet of C on the wire, and memory, bytes */
	__u64 lost_end;	 /* on W: when what was lost is through at its part of the link */
	__u32 l_packets; /* of L, on the wire */
	__u32 c_sends;	 /* the slot, on V, where the packet of C that left last ends */

	/* Every packet reads here. */
	__u32 turn; /* the pace in force, modulo SHARE_PACES */
	__u32 is_changing;
	__u32 epoch; /* places of an earlier one count no more: share_restart() */
	__u32 unused_too;
	__u64 rate; /* bytes/s; 0: not shaped */
	struct share_pace pace[SHARE_PACES];
};

#define SHARE_PACKET (1ULL << 40)
#define SHARE_BYTES (SHARE_PACKET - 1)

/* One queue of a qdisc, on the link. Until it moves each packet starts at its slot. */
struct share_queue {
	__u64 left;    /* work of those that waited when it moved (share_move()); 0: it has not */
	__u64 next;    /* where its head starts */
	__u64 own;     /* work of `left` that it has already, between those of others */
	__u64 stretch; /* by how much that takes longer, 2^-SHARE_STRETCH */
	__u64 piece;   /* where it has the rest, in a row */
};

/* Where a queue has less than 2^-SHARE_THIN of what is ahead, it does without. */
#define SHARE_STRETCH 8
#define SHARE_THIN 6

/* ---- clocks -------------------------------------------------------------------- */

static inline __u64 share_later(__u64 one, __u64 other)
{
	return (__s64)(one - other) > 0 ? one : other;
}

/* How far `clock` is ahead of `now`, or 0. */
static inline __u64 share_ahead(__u64 clock, __u64 now)
{
	return (__s64)(clock - now) > 0 ? clock - now : 0;
}

static inline __u64 share_work_of(__u64 bytes)
{
	return bytes << SHARE_FRACTION;
}

/* How long the link takes for so much work, ns, rounded up; for what it can hold (SHARE_AHEAD_MAX)
 * at most.
 */
static inline __u64 share_ns(__u64 work, __u64 rate)
{
	__u64 bytes;

	if (!rate)
		return 0;
	if (work > SHARE_AHEAD_MAX)
		work = SHARE_AHEAD_MAX;
	bytes = (work + (1ULL << SHARE_FRACTION) - 1) >> SHARE_FRACTION;
	return (bytes * 1000000000ULL + rate - 1) / rate;
}

/* From now on the link has this rate (bytes/s). The last bit of 32 of it may be missing. */
static inline struct share_pace share_pace_make(__u64 rate, __u64 now_ns, __u64 work)
{
	struct share_pace pace = {
		.at_ns = now_ns,
		.at_work = work,
		.slack = share_work_of(rate) / (1000000000ULL / SHARE_SLACK_NS) + SHARE_SLOT_WORK,
	};
	__u64 a_second = share_work_of(rate);

	if (!rate)
		return pace;
	for (int i = 0; i < 40 && !(a_second >> 60); i++) {
		a_second <<= 1;
		pace.shift++;
	}
	pace.mult = (__u32)(a_second / 1000000000ULL);
	return pace;
}

/* Is a pace so old that the product has no room (4.3 s)? Then it is worked out in parts. */
static inline bool share_is_old(const struct share_pace *pace, __u64 now_ns)
{
	return (__s64)(now_ns - pace->at_ns) > 0xffffffffLL;
}

/* W, of a pace that is not old. The time may have been read before the pace began, on another CPU.
 */
static inline __u64 share_work_near(const struct share_pace *pace, __u64 now_ns)
{
	__u64 passed = now_ns - pace->at_ns;

	return (__s64)passed < 0 ? pace->at_work
				 : pace->at_work + (passed * pace->mult >> pace->shift);
}

/* W */
static inline __u64 share_work(const struct share_pace *pace, __u64 now_ns)
{
	__u64 passed = now_ns - pace->at_ns;

	if (!share_is_old(pace, now_ns))
		return share_work_near(pace, now_ns);
	return pace->at_work + (passed >> 32) * (((__u64)pace->mult << 32) >> pace->shift) +
	       ((passed & 0xffffffffULL) * pace->mult >> pace->shift);
}

static inline const struct share_pace *share_pace(const struct share *share)
{
	return &share->pace[*(const volatile __u32 *)&share->turn % SHARE_PACES];
}

/* U or V, from W */
static inline __u64 share_at(const struct share *share, bool in_l, __u64 work)
{
	return work - *(const volatile __u64 *)(in_l ? &share->l_gaps : &share->l_sent);
}

/* Does C wait? (Its clock cannot tell: V is behind while a packet of L is under way.) */
static inline bool share_c_waits(const struct share *share)
{
	return *(const volatile __u64 *)&share->memory / SHARE_PACKET;
}

/* What `work` of L leaves to C, which has the rest of `l_share` percent. */
static inline __u64 share_gap(__u64 work, __u32 l_share)
{
	return l_share ? work * (100 - l_share) / l_share : 100 * work;
}

/* Take `work` of a clock, from `from` on at the earliest; returns where it starts. Who loses four
 * times (the clock is far ahead of `from` then, or was a moment ago) takes what is next.
 */
static inline __u64 share_claim(__u64 *clock, __u64 from, __u64 work)
{
	__u64 old = *(volatile __u64 *)clock, start, found;

	for (int i = 0; i < 4; i++) {
		start = share_later(old, from);
		found = __sync_val_compare_and_swap(clock, old, start + work);
		if (found == old)
			return start;
		old = found;
	}
	return __sync_fetch_and_add(clock, work);
}

/* What the packet of C that left last still has to send. `at`: V. */
static inline __u64 share_under_way(const struct share *share, __u64 at)
{
	const __u64 slot = *(const volatile __u32 *)&share->c_sends;
	const __u64 left = ((slot << SHARE_SLOT_SHIFT) - at) & (SHARE_SLOTS_WORK - 1);

	return left <= SHARE_UNDER_WAY_MAX ? left : 0;
}

/* A packet of C leaves. `at`: where it starts, on V. */
static inline void share_sends_c(struct share *share, __u64 at, __u64 work)
{
	*(volatile __u32 *)&share->c_sends = (__u32)((at + work) >> SHARE_SLOT_SHIFT);
}

/* Let a clock be no later than `now`: nobody has taken what is ahead. */
static inline void share_pull(__u64 *clock, __u64 now)
{
	__u64 old = *(volatile __u64 *)clock;

	if (old != now)
		__sync_val_compare_and_swap(clock, old, now);
}

/* ---- the rate ------------------------------------------------------------------ */

/* How far ahead of its part of the link what was lost may be. */
static inline __u64 share_lost_ahead(const struct share_pace *pace)
{
	return SHAPER_LOST_AHEAD_NS / SHARE_SLACK_NS * pace->slack;
}

/* Put a rate in force, the same one as well. False: somebody else is doing so. W goes on from where
 * it is. Packets that came while the link was not shaped have taken nothing, and others have stood
 * still: past all of them, so that each has to ask anew (share_move()).
 */
static inline bool share_set_rate(struct share *share, __u64 rate, __u64 now_ns)
{
	const struct share_pace *old = share_pace(share);
	const __u32 turn = share->turn + 1;
	struct share_pace *new;
	__u64 work;

	if (__sync_lock_test_and_set(&share->is_changing, 1))
		return false;
	if ((__s64)(now_ns - old->at_ns) < 0)
		now_ns = old->at_ns;
	work = share_work(old, now_ns);
	if (!old->mult && rate) {
		work = share_later(work, share->l_end + share->l_gaps);
		work = share_later(work, share->c_end + share->l_sent);
		work += 2 *
			(share_work_of(rate) / (1000000000ULL / SHARE_SLACK_NS) + SHARE_SLOT_WORK);
	}
	new = &share->pace[turn % SHARE_PACES];
	*new = share_pace_make(rate, now_ns, work);
	if (share->lost_end - work > share_lost_ahead(new))
		share->lost_end = work; /* of a higher rate, or of long ago */
	share->rate = rate;
	__sync_lock_test_and_set(&share->turn, turn); /* a full barrier in BPF */
	__sync_lock_test_and_set(&share->is_changing, 0);
	return true;
}

/* After a while: a new beginning of the same pace, and if the link is empty of its clocks, so that
 * none falls back by half of the numbers (5 h of the highest rate).
 */
static inline void share_wake(struct share *share, __u64 now_ns)
{
	__u64 work, at;

	if (!share_set_rate(share, share->rate, now_ns))
		return;
	work = share_work(share_pace(share), now_ns);
	at = share_at(share, false, work);
	if (!share_ahead(share->c_end, at))
		share_sends_c(share, at, 0);
	if (share->held / SHARE_PACKET)
		return;
	share_pull(&share->l_end, share_at(share, true, work));
	share_pull(&share->c_end, at);
}

/* Some of what waits is thrown away, and with it the places in between: the link begins anew, and
 * each queue that has packets moves (share_move()) when it sees that.
 */
static inline void share_restart(struct share *share, __u64 work)
{
	for (int i = 0; i < 4; i++) {
		share_pull(&share->l_end, share_at(share, true, work));
		share_pull(&share->c_end, share_at(share, false, work));
	}
	__sync_fetch_and_add(&share->epoch, 1);
}

/* Work that the link has done already is dropped: U and V stand still for it, within the bounds of
 * SHAPER_LOST_PART. `at`: W. Of two CPUs at the same moment one may go without.
 */
static inline void share_lose(struct share *share, const struct share_pace *pace, __u64 at,
			      __u64 work)
{
	const __u64 end = *(volatile __u64 *)&share->lost_end, from = share_later(end, at);

	if (from - at > share_lost_ahead(pace) ||
	    !__sync_bool_compare_and_swap(&share->lost_end, end, from + SHAPER_LOST_PART * work))
		return;
	__sync_fetch_and_add(&share->l_sent, work);
	__sync_fetch_and_add(&share->l_gaps, work);
}

/* ---- a queue ------------------------------------------------------------------- */

/* Never 0. */
static inline __u32 share_slot(__u64 start)
{
	return (__u32)((start + SHARE_SLOT_WORK - 1) >> SHARE_SLOT_SHIFT) ?: 1;
}

/* A packet joins a queue: it takes `work` of the queue's clock. Returns its slot. */
static inline __u32 share_enter(__u64 *clock, __u64 from, __u64 work)
{
	const __u64 start = share_claim(clock, from, work);

	return start == from ? 0 : share_slot(start);
}

/* The same in C. One that starts at once is under way from then on. */
static inline __u32 share_enter_c(struct share *share, __u64 from, __u64 work)
{
	const __u32 slot = share_enter(&share->c_end, from, work);

	if (!slot)
		share_sends_c(share, from, work);
	return slot;
}

/* The same in L, which waits for what C has under way: what leaves then is no more than the link
 * carries, and L is as long, and marked as often, as on a link of one qdisc. `at`: W.
 */
static inline __u32 share_enter_l(struct share *share, const struct share_pace *pace, __u64 at,
				  __u64 work)
{
	const __u64 waits = share_under_way(share, share_at(share, false, at));
	const __u64 from = share_at(share, true, at), first = pace->slack >> SHARE_FIRST;

	if (waits <= first)
		return share_enter(&share->l_end, from, work);
	return share_slot(share_claim(&share->l_end, from + waits - first, work));
}

/* Was the head due when it came, `age_ns` ago, and is not late yet? */
static inline bool share_at_once(const struct share_queue *queue, __u32 slot, __u64 age_ns)
{
	return !slot && !queue->left && age_ns <= SHARE_SLACK_NS;
}

/* It was not queued after all. */
static inline void share_turn_back(__u64 *clock, __u64 work)
{
	__sync_fetch_and_sub(clock, work);
}

/* Where the head of a queue starts, if not at once. `slot`: what the head was told, `now`: of the
 * queue's clock.
 */
static inline __u64 share_start(const struct share_queue *queue, __u32 slot, __u64 now)
{
	const __u64 offset = (((__u64)slot << SHARE_SLOT_SHIFT) - now) & (SHARE_SLOTS_WORK - 1);

	if (queue->left)
		return queue->next;
	if (!slot)
		return now - SHARE_AHEAD_MAX;
	return now + (offset <= SHARE_AHEAD_MAX ? offset : offset - SHARE_SLOTS_WORK);
}

/* The head is so late that the link was idle in its place: a stopped device, a busy CPU. Nobody has
 * waited for it, so it may not have that place on top of theirs. And who is behind it has waited
 * too long to be in time now, so all of them (`waits`: work) get other places: first those that the
 * queue still has ahead, about as often as they come, then a piece in a row from the end of the
 * clock. `others`: work that waits elsewhere, so that of what is ahead all else is the queue's own.
 * Where its places come in a lump, not evenly, it is at most that lump too early. Of what surely
 * nobody has used it may catch up `slack`, as one that is not so late does.
 */
static inline void share_move(__u64 *clock, struct share_queue *queue, __u64 now, __u64 slack,
			      __u64 waits, __u64 others)
{
	const __u64 ahead = share_ahead(*(volatile __u64 *)clock, now);
	__u64 own = ahead > others ? ahead - others : 0;

	if (own > waits)
		own = waits;
	if (own <= ahead >> SHARE_THIN)
		own = 0;
	queue->left = waits;
	queue->own = own;
	queue->stretch = own ? (ahead << SHARE_STRETCH) / own : 0;
	queue->piece = share_claim(clock, now - slack, waits - own);
	queue->next = !own ? queue->piece : others ? now : now - slack;
}

/* A packet that had taken `work` has left a queue that has moved. */
static inline void share_go_on(struct share_queue *queue, __u64 work)
{
	queue->left = queue->left > work ? queue->left - work : 0;
	if (!queue->own) {
		queue->next += work;
		return;
	}
	queue->next += work * queue->stretch >> SHARE_STRETCH;
	queue->own = queue->own > work ? queue->own - work : 0;
	if (!queue->own)
		queue->next = share_later(queue->next, queue->piece);
}

/* A packet that had taken `work` has left the queue. */
static inline void share_leave(struct share_queue *queue, __u64 work)
{
	if (queue->left)
		share_go_on(queue, work);
}

#endif /* DUALPI2_SHARE_H */
