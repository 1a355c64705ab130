/* SPDX-License-Identifier: GPL-2.0-only */
/* Which Classic packets are served as L (sparse.h): of those that classify() has put into C without
 * being told to.
 */
#ifndef SPARSE_BPF_H
#define SPARSE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "flows.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "link.bpf.h"
#include "sparse.h"

/* The PACKET_* of a packet of C. In L it is as one of class 2 (classify.bpf.h). */
static __noinline u32 sparse(struct __sk_buff *ctx, struct instance *in, struct dualq *q, u32 flags,
			     u64 now)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u32 packets = wire_packets(skb);
	struct dualpi2_flow *flow;

	if (flags & PACKET_SETTLED)
		return flags;
	flow = flow_of(ctx, in, now);
	if (!flow) {
		__sync_fetch_and_add(&in->sparse_unknown, packets);
		return flags;
	}
	if (!sparse_is_l(&in->sparse_law, &q->sparse, &flow->sparse,
			 wire_len(in, qdisc_pkt_len(skb), packets), q->c.head_ns, now))
		return flags;
	__sync_fetch_and_add(&in->sparse_packets, packets);
	return (flags & ~PACKET_MARKABLE) | PACKET_L | PACKET_EXEMPT;
}

#endif /* SPARSE_BPF_H */
