/* SPDX-License-Identifier: GPL-2.0-only */
/* What changes in a DualQ without a packet: its AQM as time passes. */
#ifndef UPDATE_BPF_H
#define UPDATE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "overload.bpf.h"
#include "verifier.bpf.h"

/* Updates that are due, of one in each period; 0: none is, or somebody else makes them. Timer and
 * packets may come at the same time; one of them wins the claim.
 */
static __always_inline u64 claim_updates(u64 *due_ns, u64 period_ns, u64 now)
{
	const u64 due = *due_ns;

	if (now < due || __sync_val_compare_and_swap(due_ns, due, now + period_ns) != due)
		return 0;
	return 1 + (now - due) / period_ns;
}

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
	q->updates++;
	overload_update(in, &q->overload, is_saturated, now);
	return 0;
}

#endif /* UPDATE_BPF_H */
