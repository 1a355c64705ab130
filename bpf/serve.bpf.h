/* SPDX-License-Identifier: GPL-2.0-only */
/* Departure: which queue is served, what the AQM does to its head, and how a backlog shrinks. */
#ifndef SERVE_BPF_H
#define SERVE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "account.bpf.h"
#include "aqm.bpf.h"
#include "clock.bpf.h"
#include "drop.bpf.h"
#include "empty.bpf.h"
#include "fifo.bpf.h"
#include "histogram.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "scheduler.h"
#include "turns.bpf.h"
#include "update.bpf.h"
#include "verifier.bpf.h"

/* Packets that one call of dequeue drops at most before it lets others work. */
#define DROPS_AT_ONCE 64

/* What came of a DualQ's turn. */
enum turn {
	TURN_EMPTY, /* nothing to serve */
	TURN_AGAIN, /* the AQM dropped the head, or it is not clear yet whose turn it is */
	TURN_SERVED,
	TURN_HELD, /* nobody may send before schedule_held_ns() */
};

/* Take the head of a queue and account for it; NULL if there is none. */
static __always_inline struct sk_buff *take(struct instance *in, struct dualq *q, struct Qdisc *sch,
					    const bool from_l, struct packet_info *info)
{
	struct sk_buff *skb = pop(in, q, fifo_of(q, from_l), info);

	if (!skb)
		return NULL;
	if (from_l)
		q->l_packets -= info->packets;
	count_unqueued(in, sch, info);
	schedule_left(in, q, info, from_l);
	link_release(in, info, from_l);
	if (!dualq_waits(q))
		q->credit = in->initial_credit;
	return skb;
}

/* ---- trim ------------------------------------------------------------------------ */

static __always_inline void trim_from(struct instance *in, struct dualq *q, struct Qdisc *sch,
				      const bool from_l)
{
	struct dualpi2_counters *counters = counters_of(in, q, from_l);
	struct packet_info info;
	struct sk_buff *skb = take(in, q, sch, from_l, &info);

	if (!skb)
		return;
	schedule_used(in, q, info.len);
	count_drop(sch, q, counters, &counters->drop_trim, &info, from_l);
	bpf_kfree_skb(skb);
}

GLOBAL_SUBPROG int trim_one(struct Qdisc *sch __arg_trusted)
{
	struct instance *in = instance_of(sch);
	struct dualq *q;

	q = in ? schedule_next(in, AT_ANY_TIME) : NULL;
	if (!q)
		return 0;
	if (fifo_waits(&q->c))
		trim_from(in, q, sch, false);
	else
		trim_from(in, q, sch, true);
	return 0;
}

/* A limit was lowered under a backlog: make it hold, at the expense of Classic first
 * (as sch_dualpi2 does).
 */
static __noinline int trim(struct instance *in, struct Qdisc *sch)
{
	bool trimmed = false;
	u32 i;

	in->to_trim = 0;
	bpf_for(i, 0, DUALPI2_LIMIT_MAX) {
		if (!exceeds_limits(in, sch) || !sch->q.qlen || schedule_is_lost(in))
			break;
		trim_one(sch);
		trimmed = true;
	}
	if (trimmed)
		link_discarded(in);
	return 0;
}

/* ---- serve ----------------------------------------------------------------------- */

/* Serve the head of a queue. `charge`: it counts in the credit. */
static __always_inline enum turn serve_from(struct instance *in, struct dualq *q, struct Qdisc *sch,
					    const bool from_l, bool charge, u64 now,
					    struct sk_buff **served)
{
	struct dualpi2_histogram *delays = from_l ? &in->delays.l : &in->delays.c;
	struct dualpi2_counters *counters = counters_of(in, q, from_l);
	s64 sojourn_ns = now - fifo_of(q, from_l)->head_ns;
	struct packet_info info;
	struct sk_buff *skb;
	enum drop drop;

	skb = take(in, q, sch, from_l, &info);
	if (!skb)
		return TURN_EMPTY;
	if (sojourn_ns < 0) /* its time was taken on another CPU */
		sojourn_ns = 0;
	aqm_left(in, q, &info, from_l, sojourn_ns, now);
	if (!link_drops_early(in)) {
		drop = must_drop(in, q, info.flags, from_l, sojourn_ns, now);
		if (drop != DROP_NONE) {
			count_drop(sch, q, counters, cause_of(counters, drop), &info, from_l);
			charge_lost(in, q, skb, &info, now);
			bpf_kfree_skb(skb);
			return TURN_AGAIN;
		}
	}

	if (charge)
		q->credit = scheduler_charge(q->credit, in->params.classic_protection, from_l,
					     info.len);
	link_charge(in, skb, &info, from_l, now);
	if (SEVERAL)
		schedule_served(in, q, len_on_link(in, skb, &info), now);
	count_forwarded(counters, &info);
	schedule_forwarded(q, &info, from_l, sojourn_ns);
	histogram_record(delays, sojourn_ns, from_l ? &in->l_octave : &in->c_octave);
	bpf_qdisc_bstats_update(sch, skb);
	*served = skb;
	return TURN_SERVED;
}

/* Serve the queue of a DualQ whose turn it is. */
static __always_inline enum turn serve_dualq(struct instance *in, struct dualq *q,
					     struct Qdisc *sch, u64 now, struct sk_buff **served)
{
	bool l_waits = link_lets(in, q, true), c_waits = link_lets(in, q, false);
	const bool by_aqm = aqm_schedules(in) && l_waits && c_waits;

	dualq_touch(in, q, now);
	if (by_aqm ? aqm_serves_l(in, q, now) : scheduler_serves_l(q->credit, l_waits, c_waits))
		return serve_from(in, q, sch, true, c_waits && !by_aqm, now, served);
	return serve_from(in, q, sch, false, l_waits && !by_aqm, now, served);
}

/* Serve the DualQ whose turn it is. */
static __always_inline enum turn serve(struct instance *in, struct Qdisc *sch, u64 now,
				       struct sk_buff **served)
{
	struct dualq *q = schedule_next(in, now);

	if (q)
		return serve_dualq(in, q, sch, now, served);
	return schedule_held_ns(in) ? TURN_HELD : TURN_AGAIN;
}

/* The same into the handover, for a loop. Returns enum turn. */
GLOBAL_SUBPROG int serve_again(struct Qdisc *sch __arg_trusted, u64 now)
{
	struct handover *handover = handover_of(sch);
	struct instance *in = instance_of(sch);
	struct sk_buff *skb = NULL;
	enum turn turn;

	if (!in || !handover)
		return TURN_EMPTY;
	turn = serve(in, sch, now, &skb);
	if (turn == TURN_SERVED)
		put_skb(&handover->skb, skb);
	return turn;
}

/* No packet yet, as the AQM dropped the first: go on to one that it leaves alone. NULL: none is
 * left or may leave now, or there is more to clear away, for which dequeue is called again at once.
 */
static __noinline struct sk_buff *serve_on(struct Qdisc *sch, u64 now)
{
	struct handover *handover = handover_of(sch);
	enum turn turn = TURN_AGAIN;
	struct instance *in;
	int i;

	if (!handover)
		return NULL;
	bpf_for(i, 0, DROPS_AT_ONCE) {
		turn = serve_again(sch, now);
		if (turn == TURN_EMPTY)
			return NULL;
		if (turn == TURN_SERVED)
			return bpf_kptr_xchg(&handover->skb, NULL);
		if (turn == TURN_HELD)
			break;
	}
	in = instance_of(sch);
	if (in && schedule_is_lost(in))
		throw_all_away(sch);
	else if (in)
		bpf_qdisc_watchdog_schedule(sch, schedule_held_ns(in) ?: now, 0);
	return NULL;
}

#endif /* SERVE_BPF_H */
