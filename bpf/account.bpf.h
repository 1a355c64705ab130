/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted of a packet, and the limits that hang on it. */
#ifndef ACCOUNT_BPF_H
#define ACCOUNT_BPF_H

#include "vmlinux.h"

#include "aqm.bpf.h"
#include "clock.bpf.h"
#include "dualpi2.h"
#include "instance.bpf.h"
#include "turns.bpf.h"

static __always_inline void count_mark(struct dualpi2_counters *counters, enum mark mark,
				       u32 packets)
{
	if (mark == MARK_NATIVE)
		counters->mark_native += packets;
	else if (mark == MARK_COUPLED)
		counters->mark_coupled += packets;
	else
		counters->mark_guard += packets;
}

static __always_inline void count_arrival(struct instance *in, struct dualq *q,
					  struct dualpi2_counters *counters,
					  const struct packet_info *info, enum mark mark, bool in_l)
{
	counters->packets_in += info->packets;
	counters->bytes_in += info->len;
	if (mark != MARK_NONE) {
		count_mark(counters, mark, info->packets);
		schedule_marked(q, info, in_l);
	}
	if (info->packets > 1)
		in->gso_whole++;
}

/* A packet goes no further. */
static __always_inline void count_drop(struct Qdisc *sch, struct dualq *q,
				       struct dualpi2_counters *counters, u64 *cause,
				       const struct packet_info *info, bool in_l)
{
	*cause += info->packets;
	counters->drop_bytes += info->len;
	sch->qstats.drops += info->packets;
	schedule_dropped(q, info, in_l);
}

static __always_inline u64 *cause_of(struct dualpi2_counters *counters, enum drop drop)
{
	return drop == DROP_AQM ? &counters->drop_aqm : &counters->drop_overload;
}

/* The limits of all queues together: the cause to drop for, or NULL. */
static __always_inline u64 *over_limit(const struct instance *in, const struct dualq *q,
				       const struct Qdisc *sch, struct dualpi2_counters *counters,
				       u32 truesize)
{
	if (held_packets(in, sch) >= in->params.limit || !schedule_admits(in, q, sch))
		return &counters->drop_limit;
	if (held_memory(in) + truesize > in->memlimit || !schedule_admits_memory(in, q, truesize))
		return &counters->drop_memlimit;
	return NULL;
}

/* Were the limits lowered below what is queued? */
static __always_inline bool exceeds_limits(const struct instance *in, const struct Qdisc *sch)
{
	return held_packets(in, sch) > in->params.limit || held_memory(in) > in->memlimit;
}

/* A packet waits from now on. */
static __always_inline void count_queued(struct instance *in, struct Qdisc *sch,
					 const struct packet_info *info)
{
	u32 memory = in->memory_used + info->truesize, qlen = sch->q.qlen + 1;

	in->memory_used = memory;
	if (memory > in->max_memory_used)
		in->max_memory_used = memory;
	sch->qstats.backlog += info->len;
	sch->q.qlen = qlen;
	if (qlen > in->maxq)
		in->maxq = qlen;
}

/* A packet waits no more. */
static __always_inline void count_unqueued(struct instance *in, struct Qdisc *sch,
					   const struct packet_info *info)
{
	in->memory_used -= info->truesize;
	sch->qstats.backlog -= info->len;
	sch->q.qlen--;
}

static __always_inline void count_forwarded(struct dualpi2_counters *counters,
					    const struct packet_info *info)
{
	counters->packets_out += info->packets;
	counters->bytes_out += info->len;
}

/* All that is queued is thrown away: `counters` of a queue. */
static __always_inline void count_reset(struct Qdisc *sch, struct dualpi2_counters *counters)
{
	u64 packets = dualpi2_backlog_packets(counters);

	counters->drop_reset += packets;
	counters->drop_bytes += dualpi2_backlog_bytes(counters);
	sch->qstats.drops += packets;
}

#endif /* ACCOUNT_BPF_H */
