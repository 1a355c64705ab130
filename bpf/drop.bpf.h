/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking the AQM whether a packet is dropped, at enqueue or dequeue, and what that costs. */
#ifndef DROP_BPF_H
#define DROP_BPF_H

#include "vmlinux.h"

#include "aqm.bpf.h"
#include "clock.bpf.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

/* aqm_drop() in L, where it is rare. */
GLOBAL_SUBPROG u32 drop_in_l(u32 number, u32 home, u32 flags, u64 sojourn_ns, u64 now)
{
	struct instance *in = instance_by_number(number);
	struct dualq *q;

	PASSED(home);
	PASSED(flags);
	PASSED(sojourn_ns);
	PASSED(now);
	if (!in)
		return DROP_NONE;
	q = schedule_dualq(in, home);
	return q ? aqm_drop(in, q, flags, true, sojourn_ns, now) : DROP_NONE;
}

static __always_inline enum drop must_drop(struct instance *in, struct dualq *q, u32 flags,
					   const bool in_l, u64 sojourn_ns, u64 now)
{
	if (!aqm_may_drop(q, in_l, flags))
		return DROP_NONE;
	return in_l ? drop_in_l(in->number, home_of(q), flags, sojourn_ns, now)
		    : aqm_drop(in, q, flags, false, sojourn_ns, now);
}

/* What it has dropped has used the link if it came through it: that is the link's to know, and its
 * DualQ's share.
 */
static __always_inline void charge_lost(struct instance *in, struct dualq *q,
					const struct sk_buff *skb, const struct packet_info *info,
					u64 now)
{
	link_charge_lost(in, skb, info, now);
	if (SEVERAL && in->link.charges_lost)
		schedule_used(in, q, len_on_link(in, skb, info));
}

#endif /* DROP_BPF_H */
