/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDULE_MANY_TURNS_BPF_H
#define SCHEDULE_MANY_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "turns.h"
#include "verifier.bpf.h"

/* DualQs that statistics look at: a few of those that wait. */
#define SHOWN_OF 32

/* Whoever includes this says where the turns of a qdisc are, the DualQs, and the line
 * of each of `enum turns_which` in which to look for whom to show.
 */
static __always_inline struct turns *turns_in(struct instance *in);
static __always_inline struct instance *instance_with(struct turns *turns);
static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home);
static __always_inline const struct turns_line *line_shown(struct instance *in, u32 which);

/* ---- what turns.h asks ----------------------------------------------------------- */

static __always_inline struct turns_dualq *turns_dualq_at(struct turns *turns, u32 number)
{
	struct dualq *q = schedule_dualq(instance_with(turns), number);

	if (!q)
		return NULL;
	/* The compiler would add to it before it is checked, and the verifier minds. */
	barrier_var(q);
	return &q->in_schedule.many.turns;
}

static __always_inline struct dualq *dualq_of(const struct turns_dualq *turns)
{
	return container_of(turns, struct dualq, in_schedule.many.turns);
}

static __always_inline u32 turns_waiting(const struct turns_dualq *turns)
{
	const struct dualq *q = dualq_of(turns);

	return (fifo_waits(&q->l) ? TURNS_L : 0) | (fifo_waits(&q->c) ? TURNS_C : 0);
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline u32 turns_frame(const struct instance *in)
{
	return wire_len(in, full_frame(in), 1);
}

static __always_inline void many_params(struct instance *in)
{
	in->schedule.many.is_by_source = in->params.per_host == DUALPI2_HOSTS_SRC;
	turns_set_frame(turns_in(in), turns_frame(in));
}

/* Nothing waits in a DualQ. Its debt stays (turns.h). */
static __always_inline void clear(struct in_many *own)
{
	own->bytes_l = 0;
	own->bytes_c = 0;
	own->packets = 0;
	own->memory = 0;
}

/* Lines of before mean nothing from now on. */
static __always_inline void many_start(struct instance *in, u64 now)
{
	struct many *many = &in->schedule.many;

	turns_start(turns_in(in), turns_frame(in), now);
	many->waiting = 0;
	many->is_lost = 0;
	clear(&first_dualq(in)->in_schedule.many);
	if (now == in->since_ns)
		many->overload = (struct dualpi2_overload){};
}

/* ---- what waits ------------------------------------------------------------------ */

/* A DualQ may hold as much as there is room left for others, so that who floods his own leaves
 * room: alone half of the limit, beside others the more the less they hold.
 */
static __always_inline bool schedule_admits(const struct instance *in, const struct dualq *q,
					    const struct Qdisc *sch)
{
	return q->in_schedule.many.packets + sch->q.qlen < in->params.limit;
}

/* The same of memory: a few whole GSO packets have as much as thousands of others. */
static __always_inline bool schedule_admits_memory(const struct instance *in, const struct dualq *q,
						   u32 truesize)
{
	return (u64)q->in_schedule.many.memory + in->memory_used + truesize <= in->memlimit;
}

static __always_inline void many_queued(struct instance *in, struct dualq *q,
					const struct packet_info *info, bool in_l)
{
	struct in_many *own = &q->in_schedule.many;

	*(in_l ? &own->bytes_l : &own->bytes_c) += info->len;
	own->memory += info->truesize;
	if (!own->packets++)
		in->schedule.many.waiting++;
}

/* True: none waits any more, in all of the qdisc. */
static __always_inline bool many_left(struct instance *in, struct dualq *q,
				      const struct packet_info *info, bool from_l)
{
	struct in_many *own = &q->in_schedule.many;

	*(from_l ? &own->bytes_l : &own->bytes_c) -= info->len;
	own->memory -= info->truesize;
	return !--own->packets && !--in->schedule.many.waiting;
}

static __always_inline void schedule_used(struct instance *in, struct dualq *q, u32 len)
{
	turns_charge(&q->in_schedule.many.turns, len);
}

static __always_inline bool schedule_is_lost(const struct instance *in)
{
	return in->schedule.many.is_lost;
}

static __always_inline bool schedule_waits(struct instance *in)
{
	return in->schedule.many.waiting;
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline struct dualpi2_counters *counters_of(struct instance *in, struct dualq *q,
							    bool in_l)
{
	return in_l ? &in->l_counters : &in->c_counters;
}

static __always_inline u64 queue_bytes(const struct instance *in, const struct dualq *q, bool in_l)
{
	return in_l ? q->in_schedule.many.bytes_l : q->in_schedule.many.bytes_c;
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
	u64 own = q->in_schedule.many.bytes_l + q->in_schedule.many.bytes_c;

	return all > own ? all - own : 0;
}

/* L within its share, and not far beyond, goes first (turns.h). What is further beyond waits for
 * its rounds, in which others send as much each, of what they have.
 */
static __always_inline u64 schedule_ahead(const struct instance *in, const struct dualq *q)
{
	const struct in_many *many = &q->in_schedule.many;
	const s64 first = (s64)many->turns.deficit + turns_in((struct instance *)in)->ahead;
	const u64 own = many->bytes_l, waiting = in->schedule.many.waiting;
	u64 beyond = first > 0 ? own - first : own, others, most;

	if ((first > 0 && own <= (u64)first) || waiting < 2)
		return own;
	others = beyond * (waiting - 1);
	most = bytes_of_others(in, q);
	return own + (others < most ? others : most);
}

/* Overload is one event for all of them. */
static __always_inline struct dualpi2_overload *schedule_overload(struct instance *in,
								  struct dualq *q)
{
	return &in->schedule.many.overload;
}

static __always_inline void many_publish(struct instance *in, struct dualpi2_stats *stats)
{
	stats->updates = in->dualq.updates;
	stats->overload = in->schedule.many.overload;
	stats->hosts_waiting = in->schedule.many.waiting;
}

static __always_inline u64 oldest_of(const struct dualq *q, u64 now)
{
	const u64 l_age = queue_age(q, true, now), c_age = queue_age(q, false, now);

	return l_age > c_age ? l_age : c_age;
}

/* Who is shown: the one whose packets have waited for longest, of `home` and of those that are
 * first in a line.
 */
GLOBAL_SUBPROG u32 longest_in_line(u32 qdisc, u32 which, u32 home, u64 now)
{
	struct instance *in = instance_by_number(qdisc);
	const struct turns_line *line = in ? line_shown(in, which) : NULL;
	const struct dualq *q = in ? schedule_dualq(in, home) : NULL;
	u64 age, longest_ns;
	u32 i, at;

	if (!q || !line || which > TURNS_APART)
		return home;
	barrier_var(which); /* the compiler would multiply it before it is checked */
	longest_ns = oldest_of(q, now);
	at = line->first;
	bpf_for(i, 0, SHOWN_OF) {
		q = schedule_dualq(in, at);
		if (!q)
			break;
		age = oldest_of(q, now);
		if (age > longest_ns) {
			longest_ns = age;
			home = at;
		}
		if (at == line->last)
			break;
		at = q->in_schedule.many.turns.next[which];
	}
	return home;
}

#endif /* SCHEDULE_MANY_TURNS_BPF_H */
