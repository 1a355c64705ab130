/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of each flow, by a hash of its innermost headers: that of the kernel's flow
 * dissector, of the network card, or of the socket.
 *
 * A table without locks and without memory to allocate: a flow has two places, by two parts of its
 * hash, and takes one where nothing is left to know. If there is none it stays unknown.
 */
#ifndef FLOWS_BPF_H
#define FLOWS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "ecn.bpf.h"
#include "flow.h"
#include "flow_name.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"

#define GOLDEN_RATIO_32 0x61c88647 /* include/linux/hash.h */

static __always_inline struct dualpi2_flow *flow_at(u32 place)
{
	place %= DUALPI2_FLOWS;
	return bpf_map_lookup_elem(&dualpi2_flows, &place);
}

/* Take a place for a flow. Of two at a time one gets it. */
static __always_inline struct dualpi2_flow *flow_claim(struct dualpi2_flow *flow, u32 id,
						       const struct instance *in, u64 now)
{
	u32 old = flow->id;

	if (old && !flow_is_forgotten(flow, now))
		return NULL;
	if (__sync_val_compare_and_swap(&flow->id, old, id) != old)
		return NULL;
	flow->qdisc = flow_qdisc(in->number, in->since_ns);
	flow->guard = (struct guard_flow){};
	flow->sparse = (struct sparse_flow){};
	return flow;
}

/* The SPI of ESP behind the IP header of a usual packet, which the kernel's hash leaves out; else
 * 0.
 */
static __always_inline u32 spi_direct(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u8 *data = (const u8 *)(long)ctx->data, *data_end = (const u8 *)(long)ctx->data_end;
	u32 offset = network_offset(skb);
	const u8 *header, *spi;

	if (offset > 255)
		return 0;
	header = data + offset;
	if (header + IPV6_HEADER + sizeof(u32) > data_end)
		return 0;
	/* without options, not a fragment */
	if (skb->protocol == bpf_htons(ETH_P_IP) && header[0] == 0x45 && !(header[6] & 0x3f) &&
	    !header[7] && header[9] == IPPROTO_ESP)
		spi = header + IPV4_HEADER_MIN;
	else if (skb->protocol == bpf_htons(ETH_P_IPV6) && header[6] == IPPROTO_ESP)
		spi = header + IPV6_HEADER;
	else
		return 0;
	return spi[0] << 24 | spi[1] << 16 | spi[2] << 8 | spi[3];
}

/* Other flows at each qdisc, and at one that comes in its place later. Not 0. */
static __always_inline u32 flow_id(struct __sk_buff *ctx, const struct instance *in)
{
	const u32 at = flow_qdisc(in->number, in->since_ns);

	return (bpf_get_hash_recalc(ctx) ^ (at + spi_direct(ctx)) * GOLDEN_RATIO_32) ?: 1;
}

/* What is known of a packet's flow at a qdisc. NULL: there is no place for it. */
static __always_inline struct dualpi2_flow *flow_of(struct __sk_buff *ctx,
						    const struct instance *in, u64 now)
{
	const u32 id = flow_id(ctx, in);
	struct dualpi2_flow *one = flow_at(id), *other = flow_at(id >> 16);

	if (!one || !other)
		return NULL; /* the verifier does not know that there always are */
	if (one->id == id)
		return one;
	if (other->id == id)
		return other;
	return flow_claim(one, id, in, now) ?: flow_claim(other, id, in, now);
}

#endif /* FLOWS_BPF_H */
