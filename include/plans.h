/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans of subscribers, in a qdisc with a DualQ for each: no more than this rate, whoever else is
 * idle, and if the link is full a part of it in proportion (turns.h).
 *
 * A plan is a clock like that of a link (shaper.h): when what the subscriber has sent so far is
 * through at its rate. A DualQ whose clock is in the future stands apart from the lines until then.
 * The clocks count on over all epochs.
 *
 *	quantum		1 ms of the plan, so that those whom the link does not give all of their
 *			plans have the same part of them
 *	parent		a plan that several subscribers have together, such as that of an access
 *			point. A packet needs both, and moves both clocks on
 *
 * Who waits for his own clock is in a timing wheel (struct plans), in the slot of the time at which
 * it is due. A slot begins a line, as a DualQ is in one only.
 *
 * Who waits for the clock of its parent stands in a line at the parent, and the parent in the
 * wheel. When it is due it sends one of its children back to the lines of the link with each
 * packet that leaves, until its clock is in the future again. So a parent that wakes costs the same
 * with five and with five hundred children; and if the link is what is short, all of them are in
 * its lines after some rounds, as if they had no parent. At the parent stand
 *
 *	entitled	who has some of its quantum left, so it goes on. L within its share is here
 *	round		who has none: deficit round robin. It is given a quantum when it is first,
 *			and is sent back when it has no debt
 *
 * While anybody stands in the round of a parent, all its children are given their quanta there, not
 * in the round of the link. Else who happens to be in the lines of the link when the parent is due
 * would have more.
 *
 * Whoever changes a plan tells nobody: a DualQ looks at its plan if that was not just now. A clock
 * that was made with another rate begins anew. Nobody stands in the wheel for longer than it
 * reaches, 17 ms, and who is not due then goes back: so a new rate is in force within 19 ms.
 *
 * All of it is written under the qdisc's lock, but for rates and parents of plans.
 */
#ifndef DUALPI2_PLANS_H
#define DUALPI2_PLANS_H

#include "shaper.h"
#include "subscribers.h"
#include "turns.h"

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* A slot of the wheel, ns: 65.5 us. So late are packets of a plan where nothing else waits; twice
 * that where a parent has seen meanwhile that it waits for a child.
 */
#define PLANS_SLOT_SHIFT 16

/* Slots; the wheel reaches 16.8 ms. */
#define PLANS_SLOTS 256
#define PLANS_WORDS (PLANS_SLOTS / 64)

/* A quantum is 1 ms of the plan, at least so many bytes and at most TURNS_FRAME_MAX: the least
 * keeps the steps to a full frame few, and is 1 ms of 2 Mbit/s.
 */
#define PLANS_QUANTA_A_SECOND 1000
#define PLANS_QUANTUM_MIN 256

/* Steps to bring back whoever is due that go before one packet. One needs about six, with the
 * smallest quantum.
 */
#define PLANS_STEPS 16

/* So long a DualQ goes on without a look at its plan, which is two look-ups in maps, ns. */
#define PLANS_LOOK_NS 2000000

/* Where DualQs and parents stand in the same line, this and its number is a parent. */
#define PLANS_PARENTS 0x8000
_Static_assert(PLANS_PARENTS + SUBSCRIBERS_ROOM_MAX < TURNS_NOBODY, "nobody is none of them");

/* Nobody stands in the wheel. */
#define PLANS_NEVER (~0ULL)

enum plans_which {
	PLANS_ENTITLED,
	PLANS_ROUND,
	PLANS_LINES,
};

/* A clock and the rate that it was made with. Anything may be in it before, but for a rate that it
 * was not made with.
 */
struct plans_clock {
	struct shaper shaper;
	__u64 rate; /* bytes/s */
};

/* Part of a DualQ, beside its struct turns_dualq. */
struct plans_dualq {
	struct plans_clock clock;
	__u64 looked_ns; /* when it looked at its plan */
	__s32 quantum;	 /* of the clock's rate, bytes */
	__u32 parent;	 /* as the plan said */
	__u32 owner;	 /* likewise */
	__u32 known;	 /* the owner that all that is known of it is of */
};

struct plans_parent {
	struct plans_clock clock;
	__u64 epoch;			     /* of the lines (struct turns_dualq) */
	struct turns_line line[PLANS_LINES]; /* of its children that stand apart */
	__u16 next;			     /* behind it in a slot, or of those who are due */
	__u16 stands;			     /* 1: in one of these */
	__u32 is_out;			     /* 1: a child that was sent back may go on */
};

_Static_assert(sizeof(struct plans_parent) == SUBSCRIBERS_PARENT_SIZE, "what the tools make");

/* Part of a qdisc. */
struct plans {
	struct turns turns; /* first: who has the one has the other */
	struct turns_line slot[PLANS_SLOTS];
	__u64 filled[PLANS_WORDS]; /* bit by slot: somebody stands there */
	__u64 first;		   /* slot since time 0; nobody stands before it */
	__u64 due_ns;		   /* the time of the first filled slot, or PLANS_NEVER */
	struct turns_line due;	   /* parents that send children back */
};

/* Whoever includes this has these as well; NULL: there is none. `plans_plan_at`: of a DualQ or of a
 * parent, by its number in a line. `plans_call`: plans_bring_back(), turns_step() and
 * plans_parent_is_due(), by calls because together they are more than the BPF verifier wants to
 * walk through. (Besides, that of 6.18 stumbles over the last one in a loop: it asks for the value
 * of a register that has none any more, "backtracking call unexpected regs".)
 */
static inline struct plans_dualq *plans_of_dualq(struct turns_dualq *dualq);
static inline struct plans_parent *plans_parent_at(struct plans *plans, __u32 number);
static inline const struct plan *plans_plan_at(const struct plans *plans, __u32 number);
static inline void plans_call_bring_back(struct plans *plans, __u64 now);
static inline __u32 plans_call_step(struct plans *plans);
static inline bool plans_call_is_due(struct plans *plans, __u32 number, __u64 now);

static inline struct plans *plans_of(struct turns *turns)
{
	return (struct plans *)turns;
}

/* ---- lines apart ----------------------------------------------------------------- */

/* Who is behind this one where it stands. */
static inline __u16 *plans_next(struct plans *plans, __u32 number)
{
	struct plans_parent *parent;
	struct turns_dualq *dualq;

	if (number >= PLANS_PARENTS) {
		parent = plans_parent_at(plans, number);
		return parent ? &parent->next : 0;
	}
	dualq = turns_dualq_at(&plans->turns, number);
	return dualq ? &dualq->next[TURNS_APART] : 0;
}

static inline void plans_append(struct plans *plans, struct turns_line *line, __u32 number)
{
	__u16 *next;

	if (line->first == TURNS_NOBODY) {
		line->first = number;
	} else {
		next = plans_next(plans, line->last);
		if (!next)
			return;
		*next = number;
	}
	line->last = number;
}

/* The first one, which leaves; TURNS_NOBODY: nobody is there. */
static inline __u32 plans_take(struct plans *plans, struct turns_line *line)
{
	const __u32 number = line->first;
	const __u16 *next = 0;

	if (number != line->last)
		next = plans_next(plans, number);
	line->first = next ? *next : TURNS_NOBODY;
	return number;
}

/* ---- the wheel ------------------------------------------------------------------- */

static inline __u64 plans_bit(__u64 slot)
{
	return 1ULL << slot % 64;
}

static inline struct turns_line *plans_slot(struct plans *plans, __u64 slot)
{
	return &plans->slot[slot % PLANS_SLOTS];
}

static inline __u64 *plans_word(struct plans *plans, __u64 slot)
{
	return &plans->filled[slot / 64 % PLANS_WORDS];
}

/* When the first filled slot is due. A look at each word; twice at that with the first slot, whose
 * lower bits are those of the last slots.
 */
static inline __u64 plans_find(struct plans *plans)
{
	const __u64 before = plans_bit(plans->first) - 1;
	__u64 from = plans->first, bits, i;

	for (i = 0; i <= PLANS_WORDS; i++) {
		bits = *plans_word(plans, from + 64 * i);
		if (i == 0)
			bits &= ~before;
		if (i == PLANS_WORDS)
			bits &= before;
		if (bits)
			return ((from & ~63ULL) + 64 * i + __builtin_ctzll(bits))
			       << PLANS_SLOT_SHIFT;
	}
	return PLANS_NEVER;
}

/* It stands in the wheel until `due_ns`, or as far as the wheel reaches. */
static inline void plans_stand(struct plans *plans, __u32 number, __u64 due_ns, __u64 now)
{
	__u64 at = ((due_ns - 1) >> PLANS_SLOT_SHIFT) + 1, last;
	struct turns_line *slot;

	if (plans->due_ns > now)
		plans->first = now >> PLANS_SLOT_SHIFT;
	last = plans->first + PLANS_SLOTS - 1;
	if (at > last)
		at = last;
	if (at < plans->first)
		at = plans->first;
	slot = plans_slot(plans, at);
	if (!(*plans_word(plans, at) & plans_bit(at)))
		slot->first = TURNS_NOBODY;
	*plans_word(plans, at) |= plans_bit(at);
	plans_append(plans, slot, number);
	if (at << PLANS_SLOT_SHIFT < plans->due_ns)
		plans->due_ns = at << PLANS_SLOT_SHIFT;
}

/* Whoever is due; TURNS_NOBODY: nobody. */
static inline __u32 plans_rise(struct plans *plans, __u64 now)
{
	struct turns_line *slot;
	__u32 number;

	if (plans->due_ns > now)
		return TURNS_NOBODY;
	plans->first = plans->due_ns >> PLANS_SLOT_SHIFT;
	slot = plans_slot(plans, plans->first);
	number = plans_take(plans, slot);
	if (slot->first == TURNS_NOBODY) {
		*plans_word(plans, plans->first) &= ~plans_bit(plans->first);
		plans->due_ns = plans_find(plans);
	}
	return number;
}

/* ---- clocks ---------------------------------------------------------------------- */

/* Put the rate in force that the plan has now. */
static inline void plans_follow(struct plans_clock *clock, const struct plan *plan, __u64 now)
{
	const __u64 rate = plan ? *(const volatile __u64 *)&plan->rate : 0;

	if (clock->rate == rate)
		return;
	clock->rate = rate;
	shaper_restart(&clock->shaper, now);
}

static inline bool plans_has_looked(const struct plans_dualq *own, __u64 now)
{
	return now - own->looked_ns < PLANS_LOOK_NS;
}

/* The same of a DualQ, if it is time to look. */
static inline void plans_look(struct plans *plans, struct plans_dualq *own, __u32 number, __u64 now)
{
	const struct plan *plan;
	__u64 quantum;

	if (plans_has_looked(own, now))
		return;
	plan = plans_plan_at(plans, number);
	own->looked_ns = now;
	own->parent = plan ? *(const volatile __u32 *)&plan->parent : 0;
	own->owner = plan ? *(const volatile __u32 *)&plan->owner : 0;
	plans_follow(&own->clock, plan, now);
	quantum = own->clock.rate / PLANS_QUANTA_A_SECOND;
	if (quantum < PLANS_QUANTUM_MIN)
		quantum = PLANS_QUANTUM_MIN;
	own->quantum = quantum < TURNS_FRAME_MAX ? (__s32)quantum : TURNS_FRAME_MAX;
}

static inline bool plans_is_ready(const struct plans_clock *clock, __u64 now)
{
	return shaper_ready(&clock->shaper, clock->rate, now);
}

/* A packet leaves. Who is late may catch up its quantum (SHAPER_SLACK_NS is one) and this packet:
 * so much it may send in a row while the link, or its parent, is what is short.
 */
static inline void plans_move(struct plans_clock *clock, __u64 now, __u32 len)
{
	__u64 slack = SHAPER_SLACK_NS;

	if (clock->rate && clock->shaper.free_ns + slack < now)
		slack += len * 1000000000ULL / clock->rate;
	shaper_charge_late(&clock->shaper, clock->rate, now, slack, len);
}

/* ---- parents --------------------------------------------------------------------- */

/* The number of a DualQ's parent where it stands; TURNS_NOBODY: it has none. */
static inline __u32 plans_parent_of(const struct plans_dualq *own)
{
	return own->parent && own->parent <= SUBSCRIBERS_ROOM_MAX ? PLANS_PARENTS + own->parent
								  : TURNS_NOBODY;
}

static inline struct plans_parent *plans_parent(struct plans *plans, const struct plans_dualq *own)
{
	const __u32 number = plans_parent_of(own);
	struct plans_parent *parent;

	if (number == TURNS_NOBODY)
		return 0;
	parent = plans_parent_at(plans, number);
	if (parent && parent->epoch != plans->turns.epoch) {
		parent->epoch = plans->turns.epoch;
		parent->line[PLANS_ENTITLED].first = TURNS_NOBODY;
		parent->line[PLANS_ROUND].first = TURNS_NOBODY;
		parent->stands = 0;
		parent->is_out = 0;
	}
	return parent;
}

static inline bool plans_has_round(const struct plans_parent *parent)
{
	return parent && parent->line[PLANS_ROUND].first != TURNS_NOBODY;
}

/* A DualQ stands at its parent from now on. */
static inline void plans_stand_at(struct plans *plans, struct plans_parent *parent,
				  struct turns_dualq *dualq, __u32 number)
{
	const enum plans_which which = dualq->deficit > 0 ? PLANS_ENTITLED : PLANS_ROUND;

	plans_append(plans, &parent->line[which], number);
	dualq->lines |= 1 << TURNS_APART;
}

/* A DualQ stands apart no more. If nothing waits in it, it is in the round while it has a debt. */
static inline void plans_return(struct plans *plans, struct turns_dualq *dualq, __u32 number)
{
	const __u32 waiting = turns_waiting(dualq);

	dualq->lines &= ~(1 << TURNS_APART);
	if (!waiting && dualq->deficit > 0)
		return;
	turns_join(&plans->turns, TURNS_ROUND, dualq, number);
	if (waiting & TURNS_L)
		turns_put_first(&plans->turns, dualq, number);
}

/* The first child goes back, or is given a quantum. False: one waits in the lines of the link now,
 * and that is enough for one packet.
 */
static inline bool plans_send_back(struct plans *plans, struct plans_parent *parent)
{
	__u32 number = plans_take(plans, &parent->line[PLANS_ENTITLED]);
	struct turns_dualq *child;

	if (number == TURNS_NOBODY)
		number = plans_take(plans, &parent->line[PLANS_ROUND]);
	child = turns_dualq_at(&plans->turns, number);
	if (!child)
		return false;
	if (child->deficit <= 0)
		child->deficit += turns_quantum(&plans->turns, child);
	if (child->deficit <= 0) {
		plans_stand_at(plans, parent, child, number);
		return true;
	}
	plans_return(plans, child, number);
	parent->is_out = turns_waiting(child) != 0;
	return !parent->is_out;
}

/* Does the next child have to wait until the one before has used its quantum? If its turns take
 * long to come, the link is short.
 */
static inline bool plans_waits_for_child(const struct plans_parent *parent, __u64 now)
{
	return parent->is_out && now < parent->clock.shaper.free_ns + SHAPER_SLACK_NS;
}

/* May a parent send at the rate that its plan has now? `number`: where it stands. */
static inline bool plans_parent_is_due(struct plans *plans, __u32 number, __u64 now)
{
	struct plans_parent *parent = plans_parent_at(plans, number);

	if (!parent)
		return false;
	plans_follow(&parent->clock, plans_plan_at(plans, number), now);
	return plans_is_ready(&parent->clock, now);
}

/* The first parent that is due does what it is due for, and is last of them then. False: nobody is
 * due, or plans_send_back() says so.
 */
static inline bool plans_serve_parent(struct plans *plans, __u64 now)
{
	const __u32 number = plans_take(plans, &plans->due);
	struct plans_parent *parent;

	if (number == TURNS_NOBODY)
		return false;
	parent = plans_parent_at(plans, number);
	if (!parent)
		return false;
	if (!plans_call_is_due(plans, number, now)) {
		plans_stand(plans, number, parent->clock.shaper.free_ns, now);
		return true;
	}
	if (plans_waits_for_child(parent, now)) {
		plans_stand(plans, number, now + 1, now);
		return true;
	}
	if (parent->line[PLANS_ENTITLED].first == TURNS_NOBODY && !plans_has_round(parent)) {
		parent->stands = 0;
		return true;
	}
	plans_append(plans, &plans->due, number);
	return plans_send_back(plans, parent);
}

/* One step to bring back who is due. False: that is all before the next packet. */
static inline bool plans_step(struct plans *plans, __u64 now)
{
	const __u32 number = plans_rise(plans, now);
	struct turns_dualq *dualq;

	if (number == TURNS_NOBODY)
		return plans_serve_parent(plans, now);
	if (number >= PLANS_PARENTS) {
		plans_append(plans, &plans->due, number);
		return true;
	}
	dualq = turns_dualq_at(&plans->turns, number);
	if (!dualq)
		return false;
	plans_return(plans, dualq, number);
	return true;
}

/* ---- what turns.h asks ----------------------------------------------------------- */

static inline __s32 plans_quantum(const struct turns *turns, const struct plans_dualq *own)
{
	return own->clock.rate ? own->quantum : turns->quantum;
}

/* Its parent is not due: it stands there, and the parent in the wheel. */
static inline bool plans_parent_holds(struct plans *plans, struct plans_parent *parent,
				      struct turns_dualq *dualq, __u32 number, __u64 now)
{
	const __u32 at = plans_parent_of(plans_of_dualq(dualq));

	if (plans_call_is_due(plans, at, now))
		return false;
	plans_stand_at(plans, parent, dualq, number);
	parent->is_out = 0;
	if (!parent->stands) {
		parent->stands = 1;
		plans_stand(plans, at, parent->clock.shaper.free_ns, now);
	}
	return true;
}

/* `now`: the time at which its turn would be. Who needs a quantum is given that first. */
static inline bool plans_holds(struct plans *plans, enum turns_which which,
			       struct turns_dualq *dualq, __u32 number, __u32 waiting, __u64 now)
{
	struct plans_dualq *own = plans_of_dualq(dualq);
	const bool is_through = which == TURNS_ROUND && dualq->deficit <= 0;
	struct plans_parent *parent;

	if (dualq->lines & 1 << TURNS_APART)
		return true;
	plans_look(plans, own, number, now);
	parent = plans_parent(plans, own);
	if (is_through && plans_has_round(parent)) {
		plans_stand_at(plans, parent, dualq, number);
		parent->is_out = 0;
		return true;
	}
	if (waiting && !is_through && !plans_is_ready(&own->clock, now)) {
		dualq->lines |= 1 << TURNS_APART;
		plans_stand(plans, number, own->clock.shaper.free_ns, now);
		if (parent)
			parent->is_out = 0;
		return true;
	}
	if (parent && !waiting)
		parent->is_out = 0;
	return waiting && parent && plans_parent_holds(plans, parent, dualq, number, now);
}

/* Does plans_holds() say no, and changes nothing? As most of the time, of who has no parent. */
static inline bool plans_passes(struct turns_dualq *dualq, __u64 now)
{
	const struct plans_dualq *own = plans_of_dualq(dualq);

	return plans_has_looked(own, now) && !own->parent && plans_is_ready(&own->clock, now) &&
	       !(dualq->lines & 1 << TURNS_APART);
}

/* ---- what a qdisc calls ---------------------------------------------------------- */

/* Nothing waits, or a qdisc starts: turns_settle(), turns_start() as well. */
static inline void plans_settle(struct plans *plans)
{
	__u32 word;

	for (word = 0; word < PLANS_WORDS; word++)
		plans->filled[word] = 0;
	plans->due_ns = PLANS_NEVER;
	plans->due.first = TURNS_NOBODY;
}

/* A packet comes to a DualQ in which none waits. True: it has another owner than before. */
static inline bool plans_wake(struct plans *plans, struct plans_dualq *own, __u32 number, __u64 now)
{
	plans_look(plans, own, number, now);
	shaper_wake(&own->clock.shaper, now);
	if (own->known == own->owner)
		return false;
	own->known = own->owner;
	return true;
}

/* A packet was queued: turns_arrive(), but for who stands apart. */
static inline void plans_arrive(struct plans *plans, struct turns_dualq *dualq, __u32 number,
				bool in_l)
{
	const bool is_known = dualq->epoch == plans->turns.epoch;

	if (!is_known || !(dualq->lines & 1 << TURNS_APART))
		turns_arrive(&plans->turns, dualq, number, in_l);
}

/* Is anybody to be brought back? */
static inline bool plans_is_due(const struct plans *plans, __u64 now)
{
	return plans->due_ns <= now || plans->due.first != TURNS_NOBODY;
}

/* When somebody will be, or PLANS_NEVER. */
static inline __u64 plans_due(const struct plans *plans, __u64 now)
{
	return plans_is_due(plans, now) ? now : plans->due_ns;
}

/* Bring back who is due. */
static inline void plans_bring_back(struct plans *plans, __u64 now)
{
	__u32 i;

	TURNS_FOR(i, PLANS_STEPS)
		if (!plans_is_due(plans, now) || !plans_step(plans, now))
			break;
}

/* Whose turn it is, while packets wait: as turns_next(), but TURNS_NOBODY may also mean that nobody
 * may send before plans_due().
 */
static inline __u32 plans_turn(struct plans *plans, __u64 now)
{
	__u32 i, number;

	plans_call_bring_back(plans, now);
	TURNS_FOR(i, TURNS_STEPS) {
		number = plans_call_step(plans);
		if (number < TURNS_NOBODY)
			return number;
		if (number == TURNS_NOBODY && !plans_is_due(plans, now))
			return TURNS_NOBODY;
		if (number == TURNS_NOBODY)
			plans_call_bring_back(plans, now);
	}
	return TURNS_UNKNOWN;
}

/* The DualQ whose turn it was has sent `len` bytes: turns_charge(). True: so has its parent. */
static inline bool plans_charge(struct turns_dualq *dualq, __u64 now, __u32 len)
{
	struct plans_dualq *own = plans_of_dualq(dualq);

	turns_charge(dualq, len);
	plans_move(&own->clock, now, len);
	return own->parent;
}

static inline void plans_charge_parent(struct plans *plans, struct turns_dualq *dualq, __u64 now,
				       __u32 len)
{
	struct plans_parent *parent = plans_parent(plans, plans_of_dualq(dualq));

	if (!parent)
		return;
	/* Nobody counts which of its children wait, so this is what it has after a lull, too. */
	shaper_charge(&parent->clock.shaper, parent->clock.rate, now, len);
	if (dualq->deficit <= 0 || !turns_waiting(dualq))
		parent->is_out = 0;
}

#endif /* DUALPI2_PLANS_H */
