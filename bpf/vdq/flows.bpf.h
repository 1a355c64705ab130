/* SPDX-License-Identifier: GPL-2.0-only */
/* The flows whose packets get values (packet_value.h), each with its rate. The patents of
 * bpf/aqm/vdq.bpf.h may read on it.
 */
#ifndef VDQ_FLOWS_BPF_H
#define VDQ_FLOWS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "vdq/packet_value.h"

struct flow_key {
	u32 number; /* of whoever measures */
	u32 hash;   /* of the kernel's flow dissector, or of the socket */
};

/* Of all qdiscs of an AQM together. The flow not seen for longest makes room for a new one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, VALUE_FLOWS_MAX);
	__type(key, struct flow_key);
	__type(value, struct value_flow);
} value_flows SEC(".maps");

/* NULL: there was no memory. `added`: flows that were new. */
static __always_inline struct value_flow *value_flow_of(struct __sk_buff *ctx, u32 number,
							u64 *added)
{
	const struct flow_key key = { .number = number, .hash = bpf_get_hash_recalc(ctx) };
	struct value_flow *flow = bpf_map_lookup_elem(&value_flows, &key);
	const struct value_flow new = {};

	if (flow)
		return flow;
	if (!bpf_map_update_elem(&value_flows, &key, &new, BPF_NOEXIST))
		__sync_fetch_and_add(added, 1);
	return bpf_map_lookup_elem(&value_flows, &key);
}

#endif /* VDQ_FLOWS_BPF_H */
