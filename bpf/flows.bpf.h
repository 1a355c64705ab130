/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of each flow, by a hash of its headers. That of the kernel (its flow dissector, the
 * network card, or the socket), which sees through tunnels, costs as much as half of all that is
 * done with a packet; so a usual packet of TCP, UDP, DCCP or ESP is told by its own bytes.
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
#include "verifier.bpf.h"

static __always_inline struct dualpi2_flow *flow_at(u32 place)
{
	place %= DUALPI2_FLOWS;
	return bpf_map_lookup_elem(&dualpi2_flows, &place);
}

/* The flow that has this id; NULL: it is not known. */
static __always_inline struct dualpi2_flow *flow_find(u32 id)
{
	struct dualpi2_flow *flow = flow_at(id);

	if (flow && flow->id == id)
		return flow;
	flow = flow_at(id >> 16);
	return flow && flow->id == id ? flow : NULL;
}

/* May another one take its place? */
GLOBAL_SUBPROG bool is_free(const struct dualpi2_flow *flow, u64 now)
{
	return flow && (!flow->id || flow_is_forgotten(flow, now));
}

/* Take a place for a flow. Of two at a time one gets it. */
static __always_inline struct dualpi2_flow *flow_claim(struct dualpi2_flow *flow, u32 id,
						       const struct instance *in, u64 now)
{
	u32 old;

	if (!flow)
		return NULL; /* the verifier does not know that there always is one */
	old = flow->id;
	if (!is_free(flow, now))
		return NULL;
	if (__sync_val_compare_and_swap(&flow->id, old, id) != old)
		return NULL;
	flow->qdisc = flow_qdisc(in->number, in->since_ns);
	flow->guard = (struct guard_flow){};
	flow->sparse = (struct sparse_flow){};
	return flow;
}

/* Protocols with ports in the first four bytes of their header; ESP has its SPI there. */
#define TELL_BY_FOUR_BYTES \
	(1ULL << IPPROTO_TCP | 1ULL << IPPROTO_UDP | 1ULL << IPPROTO_DCCP | 1ULL << IPPROTO_ESP)

static __always_inline bool tells_by_four_bytes(u8 protocol)
{
	return protocol < 64 && TELL_BY_FOUR_BYTES >> protocol & 1;
}

/* Addresses, protocol, and ports or SPI of a usual packet: without options, and not a fragment. 0:
 * it is not one.
 */
static __always_inline u64 hash_direct(struct __sk_buff *ctx, u64 hash)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u8 *data = (const u8 *)(long)ctx->data, *data_end = (const u8 *)(long)ctx->data_end;
	u32 offset = network_offset(skb), i;
	const u8 *header;

	if (offset > 255) /* as in tos_direct() */
		return 0;
	header = data + offset;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (header + IPV4_HEADER_MIN + 4 > data_end || header[0] != 0x45 ||
		    word_at(header + 4) & bpf_htonl(0x3fff) || !tells_by_four_bytes(header[9]))
			return 0;
		hash = flow_mix(hash, (u64)word_at(header + 12) << 32 | word_at(header + 16));
		return flow_end(hash, word_at(header + IPV4_HEADER_MIN), header[9]);
	}
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || header + IPV6_HEADER + 4 > data_end ||
	    !tells_by_four_bytes(header[6]))
		return 0;
	for (i = 8; i < IPV6_HEADER; i += 8)
		hash = flow_mix(hash, (u64)word_at(header + i) << 32 | word_at(header + i + 4));
	return flow_end(hash, word_at(header + IPV6_HEADER), header[6]);
}

/* By the key of a qdisc: other flows at each, and at one that comes in its place later. Not 0. */
static __always_inline u32 flow_id(struct __sk_buff *ctx, u64 key)
{
	u64 hash = hash_direct(ctx, key);

	return (u32)(hash ?: flow_mix(key, bpf_get_hash_recalc(ctx))) ?: 1;
}

/* What is known of a packet's flow at a qdisc. NULL: there is no place for it. */
static __always_inline struct dualpi2_flow *flow_of(struct __sk_buff *ctx,
						    const struct instance *in, u64 now)
{
	const u32 id = flow_id(ctx, in->flow_key);

	return flow_find(id)
		       ?: flow_claim(flow_at(id), id, in, now)
				  ?: flow_claim(flow_at(id >> 16), id, in, now);
}

#endif /* FLOWS_BPF_H */
