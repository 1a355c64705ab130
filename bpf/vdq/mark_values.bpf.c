// SPDX-License-Identifier: GPL-2.0-only
/* Marks packets with values for VDQ-CSAQM (vdq.bpf.h): each flow is measured, and each IPv6 packet
 * gets its value as its flow label. On the sender or at an edge; a bottleneck with `--values
 * flow-label` reads it. Other packets are left alone: a bottleneck measures them itself.
 *
 * The patents US 12500850, 11038806, 12021756 and 11695703 read on parts of it. Whoever uses or
 * distributes it has to look into that. So it is only built with `make VDQ=1`, and is in no
 * package.
 */
#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ecn.bpf.h"
#include "kernel.bpf.h"
#include "vdq/flows.bpf.h"
#include "vdq/mark_values.h"

char LICENSE[] SEC("license") = "GPL";

/* How long a change of a flow's rate takes to be seen, ns. */
const volatile __u64 rate_memory_ns = VALUE_MEMORY_NS;

/* Who writes it is the tool, before anything runs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MARK_VALUES_DSCPS);
	__type(key, u32);
	__type(value, struct value_policy);
} value_policies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mark_values_counters);
} value_counters SEC(".maps");

/* 0: there was no memory. */
static __always_inline u32 value_for(struct __sk_buff *ctx, u32 dscp,
				     struct mark_values_counters *counters)
{
	const struct value_policy *policy = bpf_map_lookup_elem(&value_policies, &dscp);
	struct value_flow *flow = value_flow_of(ctx, 0, &counters->flows);

	if (!policy || !flow)
		return 0;
	value_measure(flow, bpf_ktime_get_ns(), ctx->len, rate_memory_ns);
	return value_by(policy, value_spread(flow));
}

/* 20 bits behind version and Traffic Class (RFC 8200, 3). No checksum covers them. */
static __always_inline bool label_store(struct __sk_buff *ctx, u32 offset, u32 value)
{
	__be32 word;

	if (bpf_skb_load_bytes(ctx, offset, &word, sizeof(word)))
		return false;
	word = (word & ~bpf_htonl(VDQ_VALUE_MAX)) | bpf_htonl(value & VDQ_VALUE_MAX);
	/* The flag keeps skb->csum (CHECKSUM_COMPLETE) right. */
	return !bpf_skb_store_bytes(ctx, offset, &word, sizeof(word), BPF_F_RECOMPUTE_CSUM);
}

SEC("tcx/egress")
int mark_values(struct __sk_buff *ctx)
{
	const u32 first = 0;
	struct mark_values_counters *counters = bpf_map_lookup_elem(&value_counters, &first);
	struct ip_header ip;
	u32 value;

	if (!counters)
		return TCX_NEXT;
	ip_find(ctx, &ip);
	if (ip.tos == NO_TOS || ip.is_v4) {
		__sync_fetch_and_add(&counters->others, 1);
		return TCX_NEXT;
	}
	value = value_for(ctx, ip.tos >> 2, counters);
	if (value && label_store(ctx, ip.offset, value))
		__sync_fetch_and_add(&counters->labelled, 1);
	else
		__sync_fetch_and_add(&counters->unlabelled, 1);
	return TCX_NEXT;
}
