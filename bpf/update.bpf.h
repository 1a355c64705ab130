/* SPDX-License-Identifier: GPL-2.0-only */
/* What changes in a DualQ without a packet: its AQM as time passes, and what hangs on parameters.
 *
 * A qdisc may have thousands of DualQs, most of them asleep, so nobody walks through them. The
 * timer updates the first (tick.bpf.h). Another one catches up when a packet touches it: with the
 * updates that it has missed, and with parameters that have changed since. Until then its
 * statistics are those of the last touch, and an overload event goes on.
 */
#ifndef UPDATE_BPF_H
#define UPDATE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "claim.bpf.h"
#include "clock.bpf.h"
#include "dualpi2.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "overload.bpf.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

/* The AQM moves, and what it says may be overload. */
GLOBAL_SUBPROG int dualq_update(u32 number, u32 home, u64 now, u64 periods)
{
	struct instance *in = instance_by_number(number);
	struct dualq *q = in ? schedule_dualq(in, home) : NULL;
	bool is_saturated;

	PASSED(home);
	PASSED(periods);
	if (!q)
		return 0;
	is_saturated = aqm_update(in, q, now, periods);
	(*updates_of(q))++;
	overload_update(in, q, is_saturated, now);
	return 0;
}

/* What a change of parameters begins besides. */
struct beginning {
	bool credit; /* the share of C is another one */
	bool sparse; /* --sparse is on now, and knows nothing of what waits in C */
};

/* Bring in line what hangs on parameters. */
static __always_inline void dualq_relaw(struct instance *in, struct dualq *q,
					struct beginning begins, u64 now)
{
	if (begins.credit)
		q->credit = in->initial_credit;
	if (begins.sparse)
		q->sparse.unknown_ns = now;
	q->convicts_ns = 0;
	q->sparse.leaked_ns = 0;
	aqm_relaw(in, q);
}

/* The same if parameters have changed. Of those who find that, one does it. */
static __always_inline void catch_up_relaw(struct instance *in, struct dualq *q, u64 now)
{
	const u64 had = q->generation, period_ns = aqm_period(&in->params);
	const struct beginning begins = {
		.credit = had < in->credit_generation,
		.sparse = had < in->sparse_generation,
	};

	if (had == in->generation ||
	    __sync_val_compare_and_swap(&q->generation, had, in->generation) != had)
		return;
	dualq_relaw(in, q, begins, now);
	if (q->update_due_ns > now + period_ns) /* it was longer */
		q->update_due_ns = now + period_ns;
}

/* Other parameters are in force. It costs the same however many DualQs there are: the first one
 * follows at once, the others at their packets.
 */
static __always_inline void relaw(struct instance *in, struct beginning begins, u64 now)
{
	const u64 generation = in->generation + 1;

	if (!SEVERAL) {
		dualq_relaw(in, first_dualq(in), begins, now);
		return;
	}
	if (begins.credit)
		in->credit_generation = generation;
	if (begins.sparse)
		in->sparse_generation = generation;
	/* A full barrier: whoever sees it sees all that it stands for. */
	__sync_lock_test_and_set(&in->generation, generation);
	catch_up_relaw(in, first_dualq(in), now);
}

/* A packet comes to a DualQ, or is about to leave it. */
static __always_inline void dualq_touch(struct instance *in, struct dualq *q, u64 now)
{
	const u64 period_ns = aqm_period(&in->params);
	u64 periods;

	if (SEVERAL)
		catch_up_relaw(in, q, now);
	if (is_first(q))
		return;
	periods = claim_updates(&q->update_due_ns, period_ns, now);
	if (periods)
		dualq_update(in->number, home_of(q), now, periods);
}

#endif /* UPDATE_BPF_H */
