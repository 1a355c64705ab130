/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TWO_DUALQS_TURNS_BPF_H
#define TWO_DUALQS_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "instance.bpf.h"
#include "schedule/few.bpf.h"

/* ---- whose a packet is ----------------------------------------------------------- */

static __always_inline u32 schedule_label(struct __sk_buff *ctx, const struct instance *in,
					  bool is_direct)
{
	return ctx->mark & 1;
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	u32 number = in->number;

	return home ? bpf_map_lookup_elem(&dualpi2_dualqs, &number) : first_dualq(in);
}

/* The second has none of its own until its first packet. */
static __always_inline struct dualq *schedule_find(struct instance *in, u32 label)
{
	struct dualq *q = schedule_dualq(in, label);

	return q && q->start_ns == in->start_ns ? q : NULL;
}

static __always_inline struct dualq *schedule_claim(struct instance *in, u32 label, u64 now,
						    u32 *home)
{
	*home = label;
	return schedule_dualq(in, label);
}

/* ---- turns ----------------------------------------------------------------------- */

/* Now and then it says that it does not know yet. */
static __always_inline struct dualq *schedule_next(struct instance *in, u64 now)
{
	struct dualq *first = first_dualq(in), *second = schedule_dualq(in, 1);
	struct schedule *schedule = &in->schedule;

	if (++schedule->asked % 4 == 0)
		return NULL;
	if (!second || !dualq_waits(second))
		return first;
	schedule->turn = !schedule->turn;
	return schedule->turn || !dualq_waits(first) ? second : first;
}

static __always_inline struct dualq *schedule_discards(struct instance *in)
{
	struct dualq *second = schedule_dualq(in, 1);

	return second && dualq_waits(second) ? second : NULL;
}

static __always_inline bool schedule_waits(struct instance *in)
{
	struct dualq *second = schedule_dualq(in, 1);

	return second && dualq_waits(second);
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline struct dualpi2_counters *counters_of(struct instance *in, struct dualq *q,
							    bool in_l)
{
	return in_l ? &q->in_schedule.l_counters : &q->in_schedule.c_counters;
}

static __always_inline u64 queue_bytes(const struct instance *in, const struct dualq *q, bool in_l)
{
	return dualpi2_backlog_bytes(in_l ? &q->in_schedule.l_counters
					  : &q->in_schedule.c_counters);
}

static __always_inline struct dualq *schedule_shown(struct instance *in, u32 home, u64 now)
{
	return schedule_dualq(in, home);
}

/* A qdisc that starts counts from 0; one that has thrown away what waited goes on. */
static __always_inline void schedule_start(struct instance *in, u64 now)
{
	struct dualq *first = first_dualq(in), *second = schedule_dualq(in, 1);

	if (!second || now != in->since_ns)
		return;
	first->in_schedule = (struct in_schedule){};
	second->in_schedule = (struct in_schedule){};
}

#endif /* TWO_DUALQS_TURNS_BPF_H */
