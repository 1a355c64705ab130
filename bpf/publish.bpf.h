/* SPDX-License-Identifier: GPL-2.0-only */
/* What people see: a copy of the working state, in the public maps. */
#ifndef PUBLISH_BPF_H
#define PUBLISH_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "clock.bpf.h"
#include "dualpi2.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

/* Has another qdisc taken this one's place? On a replacement the new one starts, with the same
 * key, before the old one is reset and destroyed.
 */
static __always_inline bool is_replaced(const struct instance *in)
{
	return instance_at(&in->key) != in;
}

/* Where a row of statistics is: the first has those of the qdisc. */
static __always_inline struct dualpi2_key stats_key(const struct dualpi2_key *key, u32 home)
{
	struct dualpi2_key of = *key;

	if (home)
		of.parent = home;
	return of;
}

static __always_inline void unpublish(const struct dualpi2_key *key)
{
	struct dualpi2_key of;
	u32 home;

	for (home = 0; home < SHOWN; home++) {
		of = stats_key(key, home);
		bpf_map_delete_elem(&dualpi2_stats, &of);
	}
	bpf_map_delete_elem(&dualpi2_delays, key);
}

static __always_inline void publish_queue(struct dualpi2_queue *queue,
					  const struct dualpi2_counters *counters, u64 head_age_ns)
{
	queue->counters = *counters;
	/* By the copy: a packet may have left since. */
	queue->backlog_packets = dualpi2_backlog_packets(&queue->counters);
	queue->backlog_bytes = dualpi2_backlog_bytes(&queue->counters);
	queue->head_age_ns = head_age_ns;
}

static __always_inline void publish_instance(struct instance *in, u64 now)
{
	struct dualpi2_stats *stats = &in->stats;

	__builtin_memcpy(stats->ifname, in->ifname, sizeof(stats->ifname));
	stats->number = in->number;
	stats->handle = in->handle;
	stats->since_ns = in->since_ns;
	stats->refreshed_ns = now;
	stats->params = in->params;
	stats->guard.blame_max_ns = in->guard_law.blame_max_ns;
	stats->guard.stricter_max = in->guard_law.stricter_max;
	stats->memlimit = in->memlimit;
	stats->memory_used = in->memory_used;
	stats->max_memory_used = in->max_memory_used;
	stats->maxq = in->maxq;
	stats->bypassed_tcx = in->bypassed_tcx;
	stats->mispredicted = in->mispredicted;
	stats->gso_split = in->gso_split;
	stats->gso_whole = in->gso_whole;
	stats->convictions = in->convictions;
	stats->redirected = in->redirected;
	stats->unjudged = in->unjudged;
	stats->sparse_packets = in->sparse_packets;
	stats->sparse_unknown = in->sparse_unknown;
}

static __always_inline void publish_dualq(struct instance *in, struct dualq *q, u64 now)
{
	struct dualpi2_stats *stats = &in->stats;
	struct dualpi2_levels levels;

	coupled_levels(in, q, &levels);
	aqm_gauges(in, q, (struct aqm_gauges *)stats->aqm, &levels);
	stats->levels = levels;
	stats->credit = q->credit;
	stats->updates = *updates_of(q);
	stats->overload = *overload_of(q);
	publish_queue(&stats->l, counters_of(in, q, true), queue_age(q, true, now));
	publish_queue(&stats->c, counters_of(in, q, false), queue_age(q, false, now));
	schedule_publish(in, stats);
}

GLOBAL_SUBPROG int publish_number(u32 number, u64 now)
{
	struct instance *in = instance_by_number(number);
	struct dualpi2_key key, of;
	struct dualq *q;
	u32 home;

	if (!in || is_replaced(in))
		return 0;
	key = in->key;
	publish_instance(in, now);
	for (home = 0; home < SHOWN; home++) {
		q = schedule_shown(in, home, now);
		if (!q)
			break;
		of = stats_key(&key, home);
		publish_dualq(in, q, now);
		bpf_map_update_elem(&dualpi2_stats, &of, &in->stats, BPF_ANY);
	}
	bpf_map_update_elem(&dualpi2_delays, &key, &in->delays, BPF_ANY);
	/* A tool may have come here while the qdisc was destroyed on another CPU. */
	if (!instance_at(&key))
		unpublish(&key);
	return 0;
}

static __always_inline void publish(const struct instance *in, u64 now)
{
	publish_number(in->number, now);
}

#endif /* PUBLISH_BPF_H */
