/* SPDX-License-Identifier: GPL-2.0-only */
/* Which Classic packets are served as L (sparse.h): of those that classify() has put into C without
 * being told to.
 */
#ifndef SPARSE_BPF_H
#define SPARSE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "flows.bpf.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "sparse.h"

/* The PACKET_* of a packet of C. In L it is as one of class 2 (classify.bpf.h). */
static __always_inline u32 sparse(struct __sk_buff *ctx, struct instance *in, struct dualq *q,
				  const struct arrival *arrival)
{
	struct dualpi2_flow *flow;
	u32 len;

	if (arrival->flags & PACKET_SETTLED)
		return arrival->flags;
	flow = flow_of(ctx, in, arrival->now);
	if (!flow) {
		__sync_fetch_and_add(&in->sparse_unknown, arrival->packets);
		q->sparse.unknown_ns = arrival->now;
		return arrival->flags;
	}
	len = wire_len(in, qdisc_pkt_len(bpf_cast_to_kern_ctx(ctx)), arrival->packets);
	if (!sparse_is_l(&in->sparse_law, &q->sparse, &flow->sparse, len, q->c.head_ns,
			 arrival->now))
		return arrival->flags;
	__sync_fetch_and_add(&in->sparse_packets, arrival->packets);
	return exempt_in_l(arrival->flags);
}

#endif /* SPARSE_BPF_H */
