/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDULE_PLANS_TURNS_BPF_H
#define SCHEDULE_PLANS_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "p99.h"
#include "plans.h"
#include "schedule/address.bpf.h"
#include "schedule/many_turns.bpf.h"
#include "subscribers.h"
#include "turns.h"
#include "verifier.bpf.h"

/* ---- where they are -------------------------------------------------------------- */

static __always_inline struct turns *turns_in(struct instance *in)
{
	return &in->schedule.plans.turns;
}

static __always_inline struct instance *instance_with(struct turns *turns)
{
	return container_of(turns, struct instance, schedule.plans.turns);
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	u32 number = in->number;
	void *dualqs;

	if (home == SUBSCRIBER_NOBODY)
		return first_dualq(in);
	dualqs = bpf_map_lookup_elem(&dualpi2_plan_dualqs, &number);
	return dualqs ? bpf_map_lookup_elem(dualqs, &home) : NULL;
}

/* What plans.h asks. */
static __always_inline struct plans_dualq *plans_of_dualq(struct turns_dualq *turns)
{
	return &dualq_of(turns)->in_schedule.plan;
}

static __always_inline struct plans_parent *plans_parent_at(struct plans *plans, u32 number)
{
	u32 qdisc = instance_with(&plans->turns)->number, at = number - PLANS_PARENTS;
	void *parents = bpf_map_lookup_elem(&dualpi2_parents, &qdisc);
	struct plans_parent *parent = parents ? bpf_map_lookup_elem(parents, &at) : NULL;

	if (!parent)
		return NULL;
	barrier_var(parent); /* as in turns_dualq_at() */
	return parent;
}

static __always_inline const struct plan *plans_plan_at(const struct plans *plans, u32 number)
{
	u32 qdisc = instance_with((struct turns *)&plans->turns)->number;
	void *of = bpf_map_lookup_elem(&dualpi2_plans, &qdisc);

	if (number >= PLANS_PARENTS)
		number -= PLANS_PARENTS;
	return of ? bpf_map_lookup_elem(of, &number) : NULL;
}

static __always_inline s32 turns_quantum(const struct turns *turns, const struct turns_dualq *own)
{
	return plans_quantum(turns, plans_of_dualq((struct turns_dualq *)own));
}

GLOBAL_SUBPROG bool holds(u32 qdisc, u32 which, u32 number, u32 waiting)
{
	struct instance *in = instance_by_number(qdisc);
	struct turns_dualq *own = in ? turns_dualq_at(turns_in(in), number) : NULL;

	return own &&
	       plans_holds(&in->schedule.plans, which, own, number, waiting, in->schedule.now_ns);
}

static __always_inline bool turns_holds(struct turns *turns, enum turns_which which,
					struct turns_dualq *own, u32 number, u32 waiting)
{
	const struct instance *in = instance_with(turns);

	return !plans_passes(own, in->schedule.now_ns) && holds(in->number, which, number, waiting);
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline void schedule_params(struct instance *in)
{
	many_params(in);
}

static __always_inline void schedule_start(struct instance *in, u64 now)
{
	many_start(in, now);
	plans_settle(&in->schedule.plans);
	if (now == in->since_ns)
		first_dualq(in)->in_schedule.use = (struct subscriber_use){};
}

/* ---- whose a packet is ----------------------------------------------------------- */

GLOBAL_SUBPROG u32 search_prefixes(u32 qdisc, u64 high, u64 low)
{
	void *prefixes = bpf_map_lookup_elem(&dualpi2_prefixes, &qdisc);
	struct ip_prefix key = { .bits = PREFIX_BITS };
	const u64 address[2] = { high, low };
	const u32 *number;

	__builtin_memcpy(key.address, address, sizeof(address));
	number = prefixes ? bpf_map_lookup_elem(prefixes, &key) : NULL;
	return number && *number <= SUBSCRIBERS_ROOM_MAX ? *number : SUBSCRIBER_NOBODY;
}

/* A search of a trie costs as much as all other work on a packet, so what it has found is
 * remembered. The hash has a key of the qdisc, and how often its trie has changed: what was found
 * before, or in another trie, is found no more. The change is read before the trie is. Its 48 upper
 * bits have to be the same; one in 2^32 other addresses in its place has them, too.
 */
static __always_inline u32 label_of_v6(const struct instance *in, u64 high, u64 low)
{
	u32 qdisc = in->number, at, number;
	const u32 *generation = bpf_map_lookup_elem(&dualpi2_generations, &qdisc);
	u64 hash, *found;

	hash = hosts_mix(in->flow_key, generation ? *generation : 0);
	hash = hosts_mix(hosts_mix(hosts_mix(hash, high), low), 0);
	at = hash >> (64 - LOOKUPS_SHIFT);
	found = bpf_map_lookup_elem(&dualpi2_lookups, &at);
	if (!found)
		return SUBSCRIBER_NOBODY;
	if ((*found ^ hash) < 1 << 16)
		return (u16)*found;
	number = search_prefixes(qdisc, high, low);
	*found = (hash & ~0xffffULL) | number;
	return number;
}

static __always_inline u32 label_of_v4(const struct instance *in, u32 address)
{
	return label_of_v6(in, 0, prefix_low_of_v4(address));
}

static __always_inline struct dualq *schedule_find(struct instance *in, u32 number)
{
	struct dualq *q = schedule_dualq(in, number);

	if (!q)
		return first_dualq(in);
	return q->start_ns == in->start_ns ? q : NULL;
}

/* What is known of a DualQ in which nothing waits may be of the past, or of somebody else. */
static __always_inline void wake(struct instance *in, struct dualq *q, u32 number, u64 now)
{
	struct in_schedule *own = &q->in_schedule;
	const bool is_anothers = plans_wake(&in->schedule.plans, &own->plan, number, now);

	if (q->start_ns == in->start_ns && !is_anothers)
		return;
	if (is_anothers)
		own->use = (struct subscriber_use){ .owner = own->plan.known };
	q->start_ns = 0; /* dualq_renew() */
	clear(&own->many);
}

static __always_inline struct dualq *schedule_claim(struct instance *in, u32 number, u64 now,
						    u32 *home)
{
	struct dualq *q = schedule_dualq(in, number);

	*home = SUBSCRIBER_NOBODY;
	if (!q)
		return first_dualq(in);
	if (!dualq_waits(q))
		wake(in, q, number, now);
	*home = number;
	return q;
}

/* ---- turns ----------------------------------------------------------------------- */

static __always_inline void schedule_queued(struct instance *in, struct dualq *q,
					    const struct packet_info *info, bool in_l)
{
	many_queued(in, q, info, in_l);
	plans_arrive(&in->schedule.plans, &q->in_schedule.many.turns, q->home, in_l);
}

static __always_inline void schedule_left(struct instance *in, struct dualq *q,
					  const struct packet_info *info, bool from_l)
{
	if (!many_left(in, q, info, from_l))
		return;
	turns_settle(turns_in(in));
	plans_settle(&in->schedule.plans);
}

GLOBAL_SUBPROG int bring_back(u32 number, u64 now)
{
	struct instance *in = instance_by_number(number);

	if (in)
		plans_bring_back(&in->schedule.plans, now);
	return 0;
}

GLOBAL_SUBPROG u32 step(u32 number)
{
	struct instance *in = instance_by_number(number);
	struct turns_dualq *first;

	return in ? turns_step(turns_in(in), &first) : TURNS_NOBODY;
}

GLOBAL_SUBPROG bool parent_is_due(u32 qdisc, u32 number, u64 now)
{
	struct instance *in = instance_by_number(qdisc);

	return in && plans_parent_is_due(&in->schedule.plans, number, now);
}

static __always_inline bool plans_call_is_due(struct plans *plans, u32 number, u64 now)
{
	return parent_is_due(instance_with(&plans->turns)->number, number, now);
}

static __always_inline void plans_call_bring_back(struct plans *plans, u64 now)
{
	bring_back(instance_with(&plans->turns)->number, now);
}

static __always_inline u32 plans_call_step(struct plans *plans)
{
	return step(instance_with(&plans->turns)->number);
}

GLOBAL_SUBPROG u32 whose_turn(u32 number, u64 now)
{
	struct instance *in = instance_by_number(number);

	return in ? plans_turn(&in->schedule.plans, now) : TURNS_NOBODY;
}

/* Packets wait, but in no line. */
static __always_inline void hold(struct schedule *schedule, u64 now)
{
	const u64 due_ns = plans_due(&schedule->plans, now);

	if (due_ns == PLANS_NEVER)
		schedule->many.is_lost = 1;
	else
		schedule->held_ns = due_ns;
}

/* Most of the time nobody is due, and one step tells. */
static __always_inline struct dualq *schedule_next(struct instance *in, u64 now)
{
	struct schedule *schedule = &in->schedule;
	struct turns_dualq *first = NULL;
	u32 home = TURNS_UNKNOWN;

	schedule->now_ns = now;
	if (now != AT_ANY_TIME && !plans_is_due(&schedule->plans, now))
		home = turns_step(turns_in(in), &first);
	if (home < TURNS_NOBODY)
		return first ? dualq_of(first) : NULL;
	if (home == TURNS_UNKNOWN)
		home = whose_turn(in->number, now);
	schedule->held_ns = 0;
	if (home < TURNS_NOBODY)
		return schedule_dualq(in, home);
	if (home == TURNS_NOBODY) /* although packets wait */
		hold(schedule, now);
	return NULL;
}

static __always_inline u64 schedule_held_ns(const struct instance *in)
{
	return in->schedule.held_ns;
}

GLOBAL_SUBPROG int parent_served(u32 qdisc, u32 number, u64 now, u32 len)
{
	struct instance *in = instance_by_number(qdisc);
	struct turns_dualq *own = in ? turns_dualq_at(turns_in(in), number) : NULL;

	if (own)
		plans_charge_parent(&in->schedule.plans, own, now, len);
	return 0;
}

static __always_inline void schedule_served(struct instance *in, struct dualq *q, u32 len, u64 now)
{
	if (plans_charge(&q->in_schedule.many.turns, now, len))
		parent_served(in->number, q->home, now, len);
}

static __always_inline struct dualq *schedule_discards(struct instance *in)
{
	struct dualq *q;
	u32 i;

	bpf_for(i, 0, DUALPI2_LIMIT_MAX) {
		q = schedule_next(in, AT_ANY_TIME);
		if (q || schedule_is_lost(in))
			return q;
	}
	return NULL;
}

/* Behind the clock of the plan, and what waits in L already. */
static __always_inline u64 schedule_forecast(const struct instance *in, const struct dualq *q,
					     u64 now)
{
	const struct plans_clock *clock = &q->in_schedule.plan.clock;

	return clock->rate ? l_wait(in, q, &clock->shaper, clock->rate, now,
				    q->in_schedule.many.bytes_l)
			   : 0;
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline struct subscriber_queue *use_of(struct dualq *q, bool in_l)
{
	return in_l ? &q->in_schedule.use.l : &q->in_schedule.use.c;
}

static __always_inline void schedule_marked(struct dualq *q, const struct packet_info *info,
					    bool in_l)
{
	use_of(q, in_l)->marks += info->packets;
}

static __always_inline void schedule_dropped(struct dualq *q, const struct packet_info *info,
					     bool in_l)
{
	use_of(q, in_l)->drops += info->packets;
}

static __always_inline void schedule_forwarded(struct dualq *q, const struct packet_info *info,
					       bool from_l, u64 sojourn_ns)
{
	struct subscriber_queue *use = use_of(q, from_l);

	use->bytes += info->len;
	use->p99_ns = p99_follow(use->p99_ns, sojourn_ns);
}

/* Of addresses that nobody has as well: their DualQ is not in the array that user space reads. */
static __always_inline void schedule_publish(struct instance *in, struct dualpi2_stats *stats)
{
	u32 number = in->number, nobody = SUBSCRIBER_NOBODY;
	void *dualqs = bpf_map_lookup_elem(&dualpi2_plan_dualqs, &number);
	struct dualq *shown = dualqs ? bpf_map_lookup_elem(dualqs, &nobody) : NULL;

	many_publish(in, stats);
	if (shown)
		shown->in_schedule.use = first_dualq(in)->in_schedule.use;
}

static __always_inline const struct turns_line *line_shown(struct instance *in, u32 which)
{
	struct plans *plans = &in->schedule.plans;

	if (which != TURNS_APART)
		return &plans->turns.line[which == TURNS_FRESH ? TURNS_FRESH : TURNS_ROUND];
	return plans->due_ns == PLANS_NEVER ? NULL
					    : plans_slot(plans, plans->due_ns >> PLANS_SLOT_SHIFT);
}

/* Of those whose turn is near, and of those who are held for the shortest time. */
static __always_inline struct dualq *schedule_shown(struct instance *in, u32 home, u64 now)
{
	u32 longest = SUBSCRIBER_NOBODY;
	enum turns_which which;

	for (which = TURNS_FRESH; which <= TURNS_APART; which++)
		longest = longest_in_line(in->number, which, longest, now);
	return schedule_dualq(in, longest);
}

#endif /* SCHEDULE_PLANS_TURNS_BPF_H */
