/* SPDX-License-Identifier: GPL-2.0-only */
/* Empty queues: how a DualQ begins, and how all that waits is thrown away. */
#ifndef EMPTY_BPF_H
#define EMPTY_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "account.bpf.h"
#include "clock.bpf.h"
#include "dualpi2.h"
#include "fifo.bpf.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "sparse.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

/* ---- a DualQ --------------------------------------------------------------------- */

/* Empty queues, and an AQM that knows nothing. */
static __always_inline void dualq_start_empty(struct instance *in, struct dualq *q)
{
	q->l_packets = 0;
	q->credit = in->initial_credit;
	q->generation = in->generation;
	q->start_ns = in->start_ns;
	q->convicts_ns = 0;
	if (link_forgets(in))
		aqm_reset(in, q);
}

/* What was known of it is of a former qdisc, or of packets that others have sent. */
static __always_inline void dualq_start_counting(struct instance *in, struct dualq *q, u32 home,
						 u64 now)
{
	q->home = home;
	q->update_due_ns = now + aqm_period(&in->params);
	q->overload = (struct dualpi2_overload){};
	q->updates = 0;
	q->guarded_until_ns = 0;
	q->sparse = (struct sparse_all){ .shares = SPARSE_SHARES_MIN };
	aqm_start(q);
}

/* A DualQ that is not the first begins: now, when it gets a packet. */
GLOBAL_SUBPROG int dualq_renew(u32 number, u32 home, u64 now)
{
	struct instance *in = instance_by_number(number);
	struct dualq *q = in ? schedule_dualq(in, home) : NULL;

	if (!q)
		return 0;
	dualq_start_empty(in, q);
	dualq_start_counting(in, q, home, now);
	return 0;
}

/* ---- all of a qdisc -------------------------------------------------------------- */

/* Nothing waits, and the link is idle. */
static __always_inline void start_empty(struct instance *in, u64 now)
{
	in->memory_used = 0;
	in->start_ns = now;
	link_start_empty(in);
	schedule_start(in, now);
	dualq_start_empty(in, first_dualq(in));
}

static __always_inline void throw_away(struct instance *in, struct dualq *q, struct Qdisc *sch)
{
	link_throw_away(in, q, sch);
	fifo_clear(q, &q->l);
	fifo_clear(q, &q->c);
	count_reset(sch, counters_of(in, q, true));
	count_reset(sch, counters_of(in, q, false));
}

/* Whatever waits. Statistics stay; if something was queued the timer runs, and publishes them. */
GLOBAL_SUBPROG int throw_all_away(struct Qdisc *sch __arg_trusted)
{
	struct instance *in = instance_of(sch);
	struct dualq *q;
	u32 i;

	if (!in || in->qdisc != (u64)sch)
		return 0;
	throw_away(in, first_dualq(in), sch);
	if (SEVERAL) {
		bpf_for(i, 0, DUALPI2_LIMIT_MAX) {
			q = schedule_discards(in);
			if (!q)
				break;
			throw_away(in, q, sch);
		}
	}
	sch->qstats.backlog = 0;
	sch->q.qlen = 0;
	link_measure(in);
	start_empty(in, bpf_ktime_get_ns());
	return 0;
}

#endif /* EMPTY_BPF_H */
