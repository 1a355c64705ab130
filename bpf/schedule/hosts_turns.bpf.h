/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDULE_HOSTS_TURNS_BPF_H
#define SCHEDULE_HOSTS_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "hosts.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "schedule/address.bpf.h"
#include "schedule/many_turns.bpf.h"
#include "schedule/uncounted.bpf.h"
#include "schedule/unheld.bpf.h"
#include "turns.h"
#include "verifier.bpf.h"

/* ---- where they are -------------------------------------------------------------- */

static __always_inline struct turns *turns_in(struct instance *in)
{
	return &in->schedule.turns;
}

static __always_inline struct instance *instance_with(struct turns *turns)
{
	return container_of(turns, struct instance, schedule.turns);
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	u32 number = in->number, at = home - (HOSTS_HOME + 1);
	void *dualqs;

	if (home == HOSTS_HOME)
		return first_dualq(in);
	dualqs = bpf_map_lookup_elem(&dualpi2_host_dualqs, &number);
	return dualqs ? bpf_map_lookup_elem(dualqs, &at) : NULL;
}

static __always_inline struct hosts_set *set_at(const struct instance *in, u32 set)
{
	u32 number = in->number;
	void *sets = bpf_map_lookup_elem(&dualpi2_host_sets, &number);

	return sets ? bpf_map_lookup_elem(sets, &set) : NULL;
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline void schedule_params(struct instance *in)
{
	const struct dualpi2_params *params = &in->params;
	struct schedule *schedule = &in->schedule;

	schedule->law = hosts_make(in->flow_key, params->host_prefix);
	schedule->sets = params->per_host ? (params->hosts + HOSTS_WAYS - 1) / HOSTS_WAYS : 0;
	many_params(in);
}

/* Sets of before mean nothing from now on, either. */
static __always_inline void schedule_start(struct instance *in, u64 now)
{
	many_start(in, now);
	if (now != in->since_ns)
		return;
	in->schedule.claims = 0;
	in->schedule.shared_packets = 0;
}

/* ---- whose a packet is ----------------------------------------------------------- */

_Static_assert(LABEL_NONE == HOSTS_NONE, "a packet without an IP header is of no host");

static __always_inline u32 label_of_v4(const struct instance *in, u32 address)
{
	return hosts_of_v4(&in->schedule.law, address);
}

static __always_inline u32 label_of_v6(const struct instance *in, u64 high, u64 low)
{
	return hosts_of_v6(&in->schedule.law, high, low);
}

/* Its set; NULL: it has no DualQ of its own, and never will. */
static __always_inline struct hosts_set *set_of(const struct instance *in, u32 host, u32 *set)
{
	if (host == HOSTS_NONE || !in->schedule.sets)
		return NULL;
	*set = hosts_set_of(host, in->schedule.sets);
	return set_at(in, *set);
}

/* The ways of a set in which packets wait: bit by way. Where there is no DualQ nobody finds room,
 * either.
 */
static __noinline u32 busy_ways(struct instance *in, u32 set)
{
	u32 home = hosts_home(set, 0), busy = 0, i;
	struct dualq *q;

	bpf_for(i, 0, HOSTS_WAYS) {
		q = schedule_dualq(in, home + i);
		if (!q || dualq_waits(q))
			busy |= 1 << i;
	}
	return busy;
}

/* A host that will share, as its set is full, has the marks of the DualQ that it will be in: else
 * nothing would ever tell it to send less.
 */
static __always_inline struct dualq *schedule_find(struct instance *in, u32 host)
{
	const struct hosts_set *hosts;
	u32 set, way;

	hosts = set_of(in, host, &set);
	if (!hosts)
		return first_dualq(in);
	way = hosts_find(hosts, in->start_ns, host);
	if (way >= HOSTS_WAYS && busy_ways(in, set) == HOSTS_ALL_BUSY)
		way = hosts_foreign(host);
	return way < HOSTS_WAYS ? schedule_dualq(in, hosts_home(set, way)) : NULL;
}

/* A way for a host that has none. (Not inlined, also so that BTF has the whole struct: of what is
 * in a map within a map it has the name alone.)
 */
static __noinline u32 claim_way(struct instance *in, struct hosts_set *hosts, u32 set, u32 host)
{
	struct dualq *q;
	u32 way;

	if (hosts_claim(hosts, host, busy_ways(in, set), &way) == HOSTS_FOREIGN) {
		in->schedule.shared_packets++;
		return way;
	}
	in->schedule.claims++;
	q = schedule_dualq(in, hosts_home(set, way));
	if (q) {
		q->start_ns = 0; /* whoever had it before: dualq_renew() */
		clear(&q->in_schedule.many);
	}
	return way;
}

static __always_inline struct dualq *schedule_claim(struct instance *in, u32 host, u64 now,
						    u32 *home)
{
	struct hosts_set *hosts;
	struct dualq *q;
	u32 set, way;

	*home = HOSTS_HOME;
	hosts = set_of(in, host, &set);
	if (!hosts)
		return first_dualq(in);
	way = hosts_own(hosts, in->start_ns, host);
	if (way >= HOSTS_WAYS)
		way = claim_way(in, hosts, set, host);
	q = schedule_dualq(in, hosts_home(set, way));
	if (!q || way >= HOSTS_WAYS) /* there are none yet */
		return first_dualq(in);
	hosts_note(hosts, way);
	*home = hosts_home(set, way);
	return q;
}

/* ---- turns ----------------------------------------------------------------------- */

static __always_inline s32 turns_quantum(const struct turns *turns, const struct turns_dualq *own)
{
	return turns->quantum;
}

static __always_inline bool turns_holds(struct turns *turns, enum turns_which which,
					struct turns_dualq *own, u32 number, u32 waiting)
{
	return false;
}

static __always_inline void schedule_queued(struct instance *in, struct dualq *q,
					    const struct packet_info *info, bool in_l)
{
	many_queued(in, q, info, in_l);
	turns_arrive(turns_in(in), &q->in_schedule.many.turns, q->home, in_l);
}

static __always_inline void schedule_left(struct instance *in, struct dualq *q,
					  const struct packet_info *info, bool from_l)
{
	if (many_left(in, q, info, from_l))
		turns_settle(turns_in(in));
}

GLOBAL_SUBPROG u32 whose_turn(u32 number)
{
	struct instance *in = instance_by_number(number);

	return in ? turns_next(turns_in(in)) : TURNS_NOBODY;
}

/* Most of the time one step tells. */
static __always_inline struct dualq *schedule_next(struct instance *in, u64 now)
{
	struct turns_dualq *first = NULL;
	u32 home = turns_step(turns_in(in), &first);

	if (home < TURNS_NOBODY)
		return first ? dualq_of(first) : NULL;
	if (home == TURNS_UNKNOWN)
		home = whose_turn(in->number);
	if (home == TURNS_NOBODY) /* although packets wait */
		in->schedule.many.is_lost = 1;
	return home < TURNS_NOBODY ? schedule_dualq(in, home) : NULL;
}

static __always_inline void schedule_served(struct instance *in, struct dualq *q, u32 len, u64 now)
{
	schedule_used(in, q, len);
}

/* Who waits is in one of these lines (turns_arrive()). */
static __always_inline struct dualq *schedule_discards(struct instance *in)
{
	struct turns *turns = turns_in(in);
	enum turns_which which;
	struct dualq *q;
	u32 i;

	bpf_for(i, 0, 2 * TURNS_NOBODY) {
		which = turns->line[TURNS_FRESH].first != TURNS_NOBODY ? TURNS_FRESH : TURNS_ROUND;
		q = schedule_dualq(in, turns->line[which].first);
		if (!q)
			break;
		turns_leave(turns, which, &q->in_schedule.many.turns);
		if (dualq_waits(q))
			return q;
	}
	return NULL;
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline void schedule_publish(struct instance *in, struct dualpi2_stats *stats)
{
	many_publish(in, stats);
	stats->hosts_claims = in->schedule.claims;
	stats->hosts_shared = in->schedule.shared_packets;
}

static __always_inline const struct turns_line *line_shown(struct instance *in, u32 which)
{
	return &turns_in(in)->line[TURNS_ROUND];
}

/* Of those whose turn is near. */
static __always_inline struct dualq *schedule_shown(struct instance *in, u32 home, u64 now)
{
	return schedule_dualq(in, longest_in_line(in->number, TURNS_ROUND, HOSTS_HOME, now));
}

#endif /* SCHEDULE_HOSTS_TURNS_BPF_H */
