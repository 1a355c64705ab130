/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is convicted, for those who may know (conviction.h). */
#ifndef CONVICTION_BPF_H
#define CONVICTION_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "conviction.h"
#include "flow.h"
#include "flow_name.bpf.h"
#include "flows.bpf.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "verifier.bpf.h"

static u64 convictions_told; /* of all qdiscs of this AQM */

/* Take the place of the conviction with this number; NULL: who wrote there DUALPI2_CONVICTIONS ago
 * still does, on another CPU. Then this one is not told, and the statistics still count it.
 */
static __always_inline struct dualpi2_conviction *conviction_claim(u64 number)
{
	const u32 place = number % DUALPI2_CONVICTIONS;
	struct dualpi2_conviction *conviction = bpf_map_lookup_elem(&dualpi2_convictions, &place);
	u64 before;

	if (!conviction)
		return NULL; /* the verifier does not know that there is always one */
	before = conviction->number;
	if (__sync_val_compare_and_swap(&conviction->begun, before, number) != before)
		return NULL;
	return conviction;
}

/* Why a flow was convicted. */
struct verdict {
	u64 now;  /* ns */
	u64 l_ns; /* how long L was */
	u64 c_ns; /* and C, if that is why; else 0 */
};

/* A flow at this instance has just been convicted. The exchanges are full barriers, so who reads
 * the same number behind the rest as before it has read all of one conviction.
 */
GLOBAL_SUBPROG int conviction_tell(struct __sk_buff *ctx, u32 instance, u32 flow_id,
				   const struct verdict *verdict)
{
	const struct instance *in = instance_by_number(instance);
	const struct dualpi2_flow *flow = flow_find(flow_id);
	struct dualpi2_conviction *conviction;
	u64 number;

	if (!in || !flow || !verdict)
		return 0;
	number = __sync_fetch_and_add(&convictions_told, 1) + 1;
	conviction = conviction_claim(number);
	if (!conviction)
		return 0;
	conviction->key = in->key;
	conviction->since_ns = in->since_ns;
	conviction->start_ns = verdict->now;
	conviction->until_ns = flow->guard.stay.until_ns;
	conviction->l_ns = verdict->l_ns;
	conviction->c_us = verdict->c_ns / DUALPI2_NSEC_PER_USEC;
	conviction->term = flow->guard.terms;
	conviction->flow = flow->id;
	conviction->netns = in->netns_inode;
	__builtin_memcpy(conviction->ifname, in->ifname, sizeof(conviction->ifname));
	flow_name(ctx, &conviction->name);
	__sync_lock_test_and_set(&conviction->number, number);
	return 0;
}

#endif /* CONVICTION_BPF_H */
