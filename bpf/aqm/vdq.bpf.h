/* SPDX-License-Identifier: GPL-2.0-only */
/* VDQ-CSAQM (Nadas, Gombos, Fejes, Laki, "A Congestion Control Independent L4S Scheduler", ANRW
 * 2020): each packet has a value, two virtual queues say from which value on packets pass
 * (include/vdq/vdq.h), and all flows get the same share whatever their congestion control, without
 * state for each flow in the queue. What is its own is in bpf/vdq/ and include/vdq/.
 *
 * The patents US 12500850, 11038806, 12021756 and 11695703 read on parts of it. Whoever uses or
 * distributes it has to look into that. So it is only built with `make VDQ=1`, and is in no
 * package.
 *
 *			virtual queue of	marked or dropped if the value is at most
 *	L packets	L, and all		the higher of both thresholds
 *	C packets	all			that of all
 *
 * A packet that can be marked is marked as it arrives. Others are dropped: at departure, or with
 * drop_enqueue at arrival as in the paper. The paper serves L strictly first, which is
 * classic_protection 0.
 */
#ifndef AQM_VDQ_BPF_H
#define AQM_VDQ_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "aqm/vdq.h"
#include "coupled.bpf.h"
#include "kernel.bpf.h"
#include "vdq/flows.bpf.h"
#include "vdq/packet_value.h"
#include "vdq/vdq.h"

struct aqm {
	struct vdq l, all;
	u64 without_value; /* packets */
};

struct aqm_law {
	struct vdq_law l, all;
	u64 all_delay_ns;
	u64 memory_ns;
	u32 value_source; /* enum vdq_values */
};

/* ---- values ------------------------------------------------------------------------ */

static u64 flows_added; /* to the table, by all qdiscs */

/* 0: there was no memory. */
static __always_inline u32 measured(struct __sk_buff *ctx, u32 number, u64 memory_ns, u64 now)
{
	struct value_flow *flow = value_flow_of(ctx, number, &flows_added);

	if (!flow)
		return 0;
	value_measure(flow, now, ctx->len, memory_ns);
	return value_of(value_spread(flow));
}

/* What the flow label says, 20 bits (RFC 8200, 3). 0: there is none. */
static __always_inline u32 labelled(struct __sk_buff *ctx)
{
	__be32 word;

	if (bpf_skb_load_bytes_relative(ctx, 0, &word, sizeof(word), BPF_HDR_START_NET))
		return 0;
	return bpf_ntohl(word) & VDQ_VALUE_MAX;
}

#define aqm_note aqm_note
static __always_inline u32 aqm_note(struct __sk_buff *ctx, struct instance *in, struct dualq *q,
				    const struct arrival *arrival)
{
	const struct aqm_law *law = aqm_law_of(in);

	if (law->value_source == VDQ_LABEL && ctx->protocol == bpf_htons(ETH_P_IPV6))
		return labelled(ctx);
	return measured(ctx, number_of(in), law->memory_ns, arrival->now);
}

/* ---- a packet arrives --------------------------------------------------------------- */

static __always_inline u32 value_in(u32 note)
{
	return note ?: VDQ_VALUE_MIDDLE;
}

/* Where marks do not tame the L packets, the virtual queue of all has nothing left for C packets.
 * But they have what the scheduler gives them (RFC 9332, 4.2.2): then only their own queue says
 * whether that is too little. What has the highest value passes even so: it is of flows that send
 * next to nothing, as ARP and those that begin.
 */
static __always_inline bool is_protected(struct instance *in, struct dualq *q, bool in_l, u32 value,
					 u64 now)
{
	return !in_l && aqm_of(q)->all.is_late &&
	       (value == VDQ_VALUE_MAX || queue_age(q, false, now) <= aqm_law_of(in)->all_delay_ns);
}

/* Is it one to be marked or dropped? */
static __always_inline bool is_too_much(struct instance *in, struct dualq *q, bool in_l, u32 value,
					u64 now)
{
	const struct aqm *aqm = aqm_of(q);

	return (value <= aqm->all.ctv && !is_protected(in, q, in_l, value, now)) ||
	       (in_l && value <= aqm->l.ctv);
}

#define aqm_may_mark aqm_may_mark
static __always_inline bool aqm_may_mark(const struct instance *in, struct dualq *q)
{
	const struct aqm *aqm = aqm_of(q);

	return aqm->l.ctv | aqm->all.ctv;
}

#define aqm_mark aqm_mark
static __always_inline enum mark aqm_mark(struct instance *in, struct dualq *q,
					  const struct arrival *arrival)
{
	const struct aqm *aqm = aqm_of(q);
	const bool in_l = arrival->flags & PACKET_L;

	if (!is_too_much(in, q, in_l, value_in(arrival->note), arrival->now))
		return MARK_NONE;
	return in_l && aqm->l.ctv > aqm->all.ctv ? MARK_NATIVE : MARK_COUPLED;
}

/* `told`: twice the length, and 1 if the packet passes: a function has five arguments. */
static __noinline int tell(struct vdq *vdq, const struct vdq_law *law, u64 now, u32 value, u64 told)
{
	vdq_tell(vdq, law, now, value, told >> 1, told & 1);
	return 0;
}

/* A packet that did not pass the tcx program may be L4S for all we know: then it stays in L. */
static __always_inline bool can_be_dropped(u32 flags, bool in_l)
{
	return flags & PACKET_NOT_ECT && !(flags & PACKET_EXEMPT) &&
	       !(in_l && flags & PACKET_UNTAGGED);
}

#define aqm_arrives aqm_arrives
static __always_inline void aqm_arrives(struct instance *in, struct dualq *q,
					struct packet_info *info, u32 note, bool in_l, u64 now)
{
	const u32 value = value_in(note);
	const struct aqm_law *law = aqm_law_of(in);
	struct aqm *aqm = aqm_of(q);
	u64 told = (u64)wire_len(in, info->len, info->packets) << 1;

	if (!note)
		aqm->without_value++;
	if (can_be_dropped(info->flags, in_l) && is_too_much(in, q, in_l, value, now))
		info->flags |= PACKET_UNWANTED;
	else
		told |= 1;
	if (in_l)
		tell(&aqm->l, &law->l, now, value, told);
	tell(&aqm->all, &law->all, now, value, told);
}

/* ---- and leaves ---------------------------------------------------------------------- */

#define aqm_may_drop aqm_may_drop
static __always_inline bool aqm_may_drop(struct dualq *q, bool in_l, u32 flags)
{
	return flags & PACKET_UNWANTED;
}

#define aqm_drop aqm_drop
static __always_inline enum drop aqm_drop(struct instance *in, struct dualq *q, u32 flags,
					  bool in_l, u64 sojourn_ns, u64 now)
{
	return DROP_AQM;
}

/* ---- every period -------------------------------------------------------------------- */

/* Saturated: too much L4S traffic that no mark tames. It is carried, and the virtual queue grows.
 */
static __always_inline bool aqm_update(struct instance *in, struct dualq *q, u64 now, u64 periods)
{
	const struct aqm_law *law = aqm_law_of(in);
	struct aqm *aqm = aqm_of(q);

	vdq_update(&aqm->l, &law->l, now, periods);
	vdq_update(&aqm->all, &law->all, now, periods);
	return !aqm->l.is_empty && vdq_is_full(&aqm->l, &law->l);
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return aqm_of(q)->l.is_empty && aqm_of(q)->all.is_empty;
}

static __always_inline void aqm_params(struct instance *in)
{
	const struct aqm_params *own = aqm_own(params_of(in));
	const u64 rate = link_rate(in) ?: own->link_rate;
	struct aqm_law *law = aqm_law_of(in);

	law->l = vdq_make(rate, own->l_percent, own->l_delay_ns, own->ring, own->bins);
	law->all = vdq_make(rate, own->all_percent, own->all_delay_ns, own->ring, own->bins);
	law->all_delay_ns = own->all_delay_ns;
	law->memory_ns = own->memory_ns;
	law->value_source = own->value_source;
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	struct aqm *aqm = aqm_of(q);

	vdq_clear(&aqm->l);
	vdq_clear(&aqm->all);
}

#define aqm_start aqm_start
static __always_inline void aqm_start(struct dualq *q)
{
	struct aqm *aqm = aqm_of(q);

	aqm->l.overflows = aqm->all.overflows = aqm->without_value = 0;
}

/* By the number of the qdisc. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct dualpi2_values);
} dualpi2_values SEC(".maps");

/* Both histograms. */
static __always_inline void publish_values(struct instance *in, const struct aqm *aqm)
{
	const struct aqm_law *law = aqm_law_of(in);
	const u32 number = number_of(in);
	struct dualpi2_values *values = bpf_map_lookup_elem(&dualpi2_values, &number);

	if (!values)
		return; /* the verifier does not know that there always are some */
	vdq_columns(&aqm->l, &law->l, values->l, DUALPI2_VALUE_COLUMNS);
	vdq_columns(&aqm->all, &law->all, values->all, DUALPI2_VALUE_COLUMNS);
}

#define aqm_gauges aqm_gauges
static __always_inline void aqm_gauges(struct instance *in, struct dualq *q,
				       struct aqm_gauges *gauges, struct dualpi2_levels *levels)
{
	const struct aqm *aqm = aqm_of(q);
	const u64 flows = bpf_map_sum_elem_count((const struct bpf_map *)&value_flows);

	publish_values(in, aqm);
	levels->p_c = aqm->all.share;
	levels->p_cl = aqm->l.share > aqm->all.share ? aqm->l.share : aqm->all.share;
	gauges->without_value = aqm->without_value;
	gauges->overflows = aqm->l.overflows + aqm->all.overflows;
	gauges->flows = flows;
	gauges->flows_evicted = flows_added > flows ? flows_added - flows : 0;
	gauges->ctv_l = aqm->l.ctv;
	gauges->ctv_all = aqm->all.ctv;
	gauges->virtual_l = aqm->l.backlog;
	gauges->virtual_all = aqm->all.backlog;
}

#endif /* AQM_VDQ_BPF_H */
