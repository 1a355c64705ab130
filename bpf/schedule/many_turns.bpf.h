/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDULE_MANY_TURNS_BPF_H
#define SCHEDULE_MANY_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "ecn.bpf.h"
#include "frames.bpf.h"
#include "hosts.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "turns.h"
#include "verifier.bpf.h"

/* DualQs that statistics look at: a few of those that wait. */
#define SHOWN_OF 32

/* Where the addresses are in a header: IPv4 (RFC 791, 3.1) and IPv6 (RFC 8200, 3). */
#define IPV4_SOURCE 12
#define IPV4_TARGET 16
#define IPV6_SOURCE 8
#define IPV6_TARGET 24

/* ---- where they are -------------------------------------------------------------- */

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

/* What turns.h asks. */
static __always_inline struct turns_dualq *turns_dualq_at(struct turns *turns, u32 number)
{
	struct instance *in = container_of(turns, struct instance, schedule.turns);
	struct dualq *q = schedule_dualq(in, number);

	if (!q)
		return NULL;
	/* The compiler would add to it before it is checked, and the verifier minds. */
	barrier_var(q);
	return &q->in_schedule.turns;
}

static __always_inline struct dualq *dualq_of(const struct turns_dualq *turns)
{
	return container_of(turns, struct dualq, in_schedule.turns);
}

static __always_inline u32 turns_waiting(const struct turns_dualq *turns)
{
	const struct dualq *q = dualq_of(turns);

	return (fifo_waits(&q->l) ? TURNS_L : 0) | (fifo_waits(&q->c) ? TURNS_C : 0);
}

static __always_inline s32 turns_quantum(const struct turns *turns, const struct turns_dualq *own)
{
	return turns->quantum;
}

static __always_inline bool turns_holds(struct turns *turns, enum turns_which which,
					struct turns_dualq *own, u32 number, u32 waiting)
{
	return false;
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline void schedule_params(struct instance *in)
{
	const struct dualpi2_params *params = &in->params;
	struct schedule *schedule = &in->schedule;

	schedule->law = hosts_make(in->flow_key, params->host_prefix);
	schedule->is_by_source = params->per_host == DUALPI2_HOSTS_SRC;
	schedule->sets = params->per_host ? (params->hosts + HOSTS_WAYS - 1) / HOSTS_WAYS : 0;
	turns_set_frame(&schedule->turns, wire_len(in, full_frame(in), 1));
}

/* Nothing waits in a DualQ. Its debt stays (turns.h). */
static __always_inline void clear(struct in_schedule *own)
{
	own->bytes_l = 0;
	own->bytes_c = 0;
	own->packets = 0;
	own->memory = 0;
}

/* Sets and lines of before mean nothing from now on. */
static __always_inline void schedule_start(struct instance *in, u64 now)
{
	struct schedule *schedule = &in->schedule;

	turns_start(&schedule->turns, wire_len(in, full_frame(in), 1), now);
	schedule->waiting = 0;
	schedule->is_lost = 0;
	clear(&first_dualq(in)->in_schedule);
	if (now != in->since_ns)
		return;
	schedule->claims = 0;
	schedule->shared_packets = 0;
	schedule->overload = (struct dualpi2_overload){};
}

/* ---- whose a packet is ----------------------------------------------------------- */

/* The host of a usual packet; HOSTS_NONE: it is not one (tos_direct()). */
static __always_inline u32 host_direct(struct __sk_buff *ctx, const struct instance *in)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u8 *data = (const u8 *)(long)ctx->data, *data_end = (const u8 *)(long)ctx->data_end;
	const struct hosts_law *law = &in->schedule.law;
	const bool by_source = in->schedule.is_by_source;
	u32 offset = network_offset(skb);
	const u8 *header;

	if (offset > 255)
		return HOSTS_NONE;
	header = data + offset;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (header + IPV4_HEADER_MIN > data_end)
			return HOSTS_NONE;
		header += by_source ? IPV4_SOURCE : IPV4_TARGET;
		return hosts_of_v4(law, word_at(header));
	}
	if (header + IPV6_HEADER > data_end)
		return HOSTS_NONE;
	header += by_source ? IPV6_SOURCE : IPV6_TARGET;
	return hosts_of_v6(law, long_at(header), long_at(header + 8));
}

/* The host behind a header that ip_search() has found. */
static __noinline u32 host_searched(const struct instance *in, struct bpf_dynptr *frame,
				    const struct ip_header *ip)
{
	const bool by_source = in->schedule.is_by_source;
	u64 address[2];
	u32 word;

	if (ip->tos == NO_TOS)
		return HOSTS_NONE;
	if (ip->is_v4) {
		if (bpf_dynptr_read(&word, sizeof(word), frame,
				    ip->offset + (by_source ? IPV4_SOURCE : IPV4_TARGET), 0))
			return HOSTS_NONE;
		return hosts_of_v4(&in->schedule.law, word);
	}
	if (bpf_dynptr_read(address, sizeof(address), frame,
			    ip->offset + (by_source ? IPV6_SOURCE : IPV6_TARGET), 0))
		return HOSTS_NONE;
	return hosts_of_v6(&in->schedule.law, address[0], address[1]);
}

static __always_inline u32 schedule_label_late(const struct instance *in, struct bpf_dynptr *frame,
					       const struct ip_header *ip)
{
	return host_searched(in, frame, ip);
}

static __noinline u32 host_of(struct __sk_buff *ctx, const struct instance *in)
{
	struct bpf_dynptr frame;
	struct ip_header ip;

	bpf_dynptr_from_skb(ctx, 0, &frame);
	ip_search(&frame, bpf_cast_to_kern_ctx(ctx), &ip);
	return host_searched(in, &frame, &ip);
}

static __always_inline u32 schedule_label(struct __sk_buff *ctx, const struct instance *in,
					  bool is_direct)
{
	return is_direct ? host_direct(ctx, in) : host_of(ctx, in);
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
		clear(&q->in_schedule);
	}
	return way;
}

static __always_inline struct dualq *schedule_claim(struct instance *in, u32 host, u32 *home)
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

/* A DualQ may hold as much as there is room left for others, so that who floods his own leaves
 * room: alone half of the limit, beside others the more the less they hold.
 */
static __always_inline bool schedule_admits(const struct instance *in, const struct dualq *q,
					    const struct Qdisc *sch)
{
	return q->in_schedule.packets + sch->q.qlen < in->params.limit;
}

/* The same of memory: a few whole GSO packets have as much as thousands of others. */
static __always_inline bool schedule_admits_memory(const struct instance *in, const struct dualq *q,
						   u32 truesize)
{
	return (u64)q->in_schedule.memory + in->memory_used + truesize <= in->memlimit;
}

static __always_inline void schedule_queued(struct instance *in, struct dualq *q,
					    const struct packet_info *info, bool in_l)
{
	struct in_schedule *own = &q->in_schedule;

	*(in_l ? &own->bytes_l : &own->bytes_c) += info->len;
	own->memory += info->truesize;
	if (!own->packets++)
		in->schedule.waiting++;
	turns_arrive(&in->schedule.turns, &own->turns, q->home, in_l);
}

static __always_inline void schedule_left(struct instance *in, struct dualq *q,
					  const struct packet_info *info, bool from_l)
{
	struct in_schedule *own = &q->in_schedule;

	*(from_l ? &own->bytes_l : &own->bytes_c) -= info->len;
	own->memory -= info->truesize;
	if (!--own->packets && !--in->schedule.waiting)
		turns_settle(&in->schedule.turns);
}

GLOBAL_SUBPROG u32 whose_turn(u32 number)
{
	struct instance *in = instance_by_number(number);

	return in ? turns_next(&in->schedule.turns) : TURNS_NOBODY;
}

/* Most of the time one step tells. */
static __always_inline struct dualq *schedule_next(struct instance *in)
{
	struct turns_dualq *first = NULL;
	u32 home = turns_step(&in->schedule.turns, &first);

	if (home < TURNS_NOBODY)
		return first ? dualq_of(first) : NULL;
	if (home == TURNS_UNKNOWN)
		home = whose_turn(in->number);
	if (home == TURNS_NOBODY) /* although packets wait */
		in->schedule.is_lost = 1;
	return home < TURNS_NOBODY ? schedule_dualq(in, home) : NULL;
}

static __always_inline void schedule_served(struct instance *in, struct dualq *q, u32 len)
{
	turns_charge(&q->in_schedule.turns, len);
}

/* Who waits is in one of these lines (turns_arrive()). */
static __always_inline struct dualq *schedule_discards(struct instance *in)
{
	struct turns *turns = &in->schedule.turns;
	enum turns_which which;
	struct dualq *q;
	u32 i;

	bpf_for(i, 0, 2 * TURNS_NOBODY) {
		which = turns->line[TURNS_FRESH].first != TURNS_NOBODY ? TURNS_FRESH : TURNS_ROUND;
		q = schedule_dualq(in, turns->line[which].first);
		if (!q)
			break;
		turns_leave(turns, which, &q->in_schedule.turns);
		if (dualq_waits(q))
			return q;
	}
	return NULL;
}

static __always_inline bool schedule_is_lost(const struct instance *in)
{
	return in->schedule.is_lost;
}

static __always_inline bool schedule_waits(struct instance *in)
{
	return in->schedule.waiting;
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline struct dualpi2_counters *counters_of(struct instance *in, struct dualq *q,
							    bool in_l)
{
	return in_l ? &in->l_counters : &in->c_counters;
}

static __always_inline u64 queue_bytes(const struct instance *in, const struct dualq *q, bool in_l)
{
	return in_l ? q->in_schedule.bytes_l : q->in_schedule.bytes_c;
}

static __always_inline u64 queue_bytes_behind(const struct instance *in, const struct dualq *q,
					      const struct packet_info *info, bool in_l)
{
	return queue_bytes(in, q, in_l);
}

/* What waits in both queues of all other DualQs, bytes. */
static __always_inline u64 bytes_of_others(const struct instance *in, const struct dualq *q)
{
	u64 all = dualpi2_backlog_bytes(&in->l_counters) + dualpi2_backlog_bytes(&in->c_counters);
	u64 own = q->in_schedule.bytes_l + q->in_schedule.bytes_c;

	return all > own ? all - own : 0;
}

/* L within its share, and not far beyond, goes first (turns.h). What is further beyond waits for
 * its rounds, in which others send as much each, of what they have.
 */
static __always_inline u64 schedule_ahead(const struct instance *in, const struct dualq *q)
{
	const s64 first = (s64)q->in_schedule.turns.deficit + in->schedule.turns.ahead;
	const u64 own = q->in_schedule.bytes_l, waiting = in->schedule.waiting;
	u64 beyond = first > 0 ? own - first : own, others, most;

	if ((first > 0 && own <= (u64)first) || waiting < 2)
		return own;
	others = beyond * (waiting - 1);
	most = bytes_of_others(in, q);
	return own + (others < most ? others : most);
}

/* Overload of hosts is one event for all of them. */
static __always_inline struct dualpi2_overload *schedule_overload(struct instance *in,
								  struct dualq *q)
{
	return &in->schedule.overload;
}

static __always_inline void schedule_publish(struct instance *in, struct dualpi2_stats *stats)
{
	stats->updates = in->dualq.updates;
	stats->overload = in->schedule.overload;
	stats->hosts_waiting = in->schedule.waiting;
	stats->hosts_claims = in->schedule.claims;
	stats->hosts_shared = in->schedule.shared_packets;
}

static __always_inline u64 oldest_of(const struct dualq *q, u64 now)
{
	const u64 l_age = queue_age(q, true, now), c_age = queue_age(q, false, now);

	return l_age > c_age ? l_age : c_age;
}

/* Of those whose turn is near, the one whose packets have waited for longest. */
static __always_inline struct dualq *schedule_shown(struct instance *in, u32 home, u64 now)
{
	const struct turns_line *line = &in->schedule.turns.line[TURNS_ROUND];
	u64 longest = oldest_of(first_dualq(in), now), age;
	u32 i, at = line->first, shown = HOSTS_HOME;
	const struct dualq *q;

	bpf_for(i, 0, SHOWN_OF) {
		q = schedule_dualq(in, at);
		if (!q)
			break;
		age = oldest_of(q, now);
		if (age > longest) {
			longest = age;
			shown = at;
		}
		if (at == line->last)
			break;
		at = q->in_schedule.turns.next[TURNS_ROUND];
	}
	return schedule_dualq(in, shown);
}

#endif /* SCHEDULE_MANY_TURNS_BPF_H */
