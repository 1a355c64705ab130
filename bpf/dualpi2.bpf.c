// SPDX-License-Identifier: GPL-2.0-only
/* DualPI2 (RFC 9332, DualQ Coupled AQM) as an eBPF qdisc.
 *
 * One link, two queues. L4S packets (ECT(1) and CE, RFC 9331) wait in the L queue,
 * all others in the C queue. A packet goes through this file from top to bottom:
 *
 *	tcx egress    dualpi2_mark     sends GSO packets through a device that splits
 *	                               them (split.bpf.h); finds the ECN field,
 *	                               chooses the queue and decides the ECN mark,
 *	                               because a BPF qdisc may not write to the
 *	                               packet; leaves a verdict
 *	qdisc         dualpi2_enqueue  limits, timestamp, tail of its queue
 *	              dualpi2_dequeue  shaper, scheduler (L first, Classic protected),
 *	                               drop decisions, sojourn time
 *	              timer_fires      every tupdate (tick.bpf.h): p' from the delay of
 *	                               the queue heads; statistics to the public maps
 *
 * p' is the one variable that couples both queues: Classic packets are marked or
 * dropped with p_C = p'^2, L packets marked with p_CL = k * p' or by the step,
 * whichever comes first. A scalable flow reacts to every mark, a Classic one
 * to the square root of its loss; so with k = 2 both get about the same rate
 * (RFC 9332, 2.1).
 *
 * Example (tests/traffic/bottleneck.py): one Cubic and one L4S flow, 40 Mbit/s, RTT
 * 10 ms. The Classic queue settles at the target, 15 ms, with p' of some 3.5 %:
 * 0.12 % of the Classic packets are dropped, 7 % of the L packets are marked. L
 * packets wait 0.5 ms, below the step.
 *
 * What belongs together stands in the headers next to this file:
 *	slot.bpf.h   instances and maps     txqueue.bpf.h   which qdisc of an mq
 *	ecn.bpf.h    the ECN field          classify.bpf.h  which of the two queues
 *	queue.bpf.h  lists of packets        pi2.bpf.h       the AQM
 *	tick.bpf.h   the periodic work      split.bpf.h     GSO packets
 *	ingress.bpf.h   the way in, through an ifb
 * and the integer arithmetic, shared with the unit tests, in include/.
 */
#include "vmlinux.h"
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dualpi2.h"
#include "laqm.h"
#include "pi2.h"
#include "aqm/pi2.h"
#include "scheduler.h"
#include "shaper.h"

#include "kernel.bpf.h"
#include "slot.bpf.h"
#include "txqueue.bpf.h"
#include "queue.bpf.h"
#include "ecn.bpf.h"
#include "classify.bpf.h"
#include "pi2.bpf.h"
#include "tick.bpf.h"
#include "split.bpf.h"
#include "ingress.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- tcx egress ------------------------------------------------------------ */

/* What the tcx program tells enqueue, in the 20 bytes of skb->cb that are the
 * qdisc's. Other programs and qdiscs write there too: `check` says that it is
 * a verdict, and for which slot.
 */
struct verdict {
	u64 now_ns;
	u32 check;
	u16 packets; /* on the wire */
	u8 flags;    /* PACKET_* */
	u8 mark;     /* enum mark */
};

/* The check of a verdict from its slot, and the slot (if any) from a check. */
static __always_inline u32 verdict_check(u32 slot, u64 now_ns)
{
	return slot ^ (u32)now_ns ^ 0x4c345321; /* "L4S!" */
}

SEC("tcx/egress")
int dualpi2_mark(struct __sk_buff *ctx)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	struct slot *slot = slot_ahead(ctx, skb);
	enum mark mark = MARK_NONE;
	u32 flags, packets = 1;
	bool is_direct = true;
	struct ip_place ip;
	int way;
	u64 now;

	if (!slot)
		return TCX_NEXT;
	if (ctx->gso_size) {
		way = split(ctx, slot);
		if (way != TCX_NEXT)
			return way;
		packets = wire_packets(skb);
	}
	ip.tos = tos_direct(ctx, skb);
	if (ip.tos == NO_TOS) {
		ip_find(ctx, &ip);
		is_direct = false;
	}
	flags = classify(slot, ip.tos, ctx->priority);
	now = bpf_ktime_get_ns();
	if (flags & PACKET_MARKABLE && aqm_may_mark(slot)) {
		mark = aqm_mark(slot, flags, now);
		if (mark != MARK_NONE && !ecn_set_ce(ctx, is_direct)) {
			mark = MARK_NONE;
			flags |= PACKET_NOT_ECT;
		}
	}

	*(u64 *)&ctx->cb[0] = now;
	ctx->cb[2] = verdict_check(slot->stats.slot, now);
	ctx->cb[3] = packets | flags << 16 | mark << 24;
	return TCX_NEXT;
}

/* ---- enqueue --------------------------------------------------------------- */

/* A packet that did not pass our tcx program (it is not attached, or the packet
 * took a way around it): its headers are read here, and PI2 can only drop it.
 */
static __noinline int give_verdict(struct slot *slot, struct sk_buff *skb)
{
	struct verdict *verdict = (void *)qdisc_skb_cb(skb)->data;
	struct bpf_dynptr frame;
	struct ip_place ip;

	bpf_dynptr_from_skb((struct __sk_buff *)skb, 0, &frame);
	ip_search(&frame, skb, &ip);
	verdict->now_ns = bpf_ktime_get_ns();
	verdict->packets = wire_packets(skb);
	verdict->flags = classify(slot, ip.tos, skb->priority) | PACKET_NOT_ECT | PACKET_LATE;
	verdict->mark = MARK_NONE;
	return 0;
}

/* Is that the number of another queue of this mq? */
static __always_inline bool is_neighbour(const struct slot *slot, u32 number)
{
	const struct slot *other = slot_by_number(number);

	return other && other->qdisc && other->key.ifindex == slot->key.ifindex &&
	       other->key.netns == slot->key.netns;
}

static __always_inline const struct verdict *verdict_of(struct slot *slot, struct sk_buff *skb)
{
	const struct verdict *verdict = (const void *)qdisc_skb_cb(skb)->data;
	u32 number = verdict_check(verdict->check, verdict->now_ns);

	if (number == slot->stats.slot)
		return verdict;
	if (is_neighbour(slot, number)) {
		slot->stats.other_verdict++;
		return verdict;
	}
	slot->stats.no_verdict++;
	give_verdict(slot, skb);
	return verdict;
}

/* Count a packet that goes no further. */
static __always_inline void count_drop(struct Qdisc *sch, struct dualpi2_queue *queue, u64 *cause,
				       u32 packets, u32 len)
{
	*cause += packets;
	queue->drop_bytes += len;
	sch->qstats.drops += packets;
}

/* aqm_drop() in L, where it is rare: walked through once (see histogram.h). An instance comes by
 * its number, because the value of a map is none to pass.
 */
__noinline u32 drop_in_l(u32 number, u32 flags, u64 l_delay_ns)
{
	struct slot *slot = slot_by_number(number);

	return slot ? aqm_drop(slot, true, flags, l_delay_ns) : DROP_NONE;
}

static __always_inline enum drop must_drop(struct slot *slot, const bool in_l, u32 flags,
					   u64 l_delay_ns)
{
	if (!aqm_may_drop(slot, in_l, flags))
		return DROP_NONE;
	return in_l ? drop_in_l(slot->stats.slot, flags, l_delay_ns)
		    : aqm_drop(slot, false, flags, 0);
}

static __always_inline u64 *aqm_cause(struct dualpi2_queue *queue, enum drop drop)
{
	return drop == DROP_PI2 ? &queue->drop_pi2 : &queue->drop_overload;
}

static __always_inline void count_mark(struct dualpi2_queue *queue, enum mark mark, u32 packets)
{
	if (mark == MARK_STEP)
		queue->mark_step += packets;
	else
		queue->mark_pi2 += packets;
}

/* The limits of both queues together: the cause to drop for, or NULL. */
static __always_inline u64 *over_limit(const struct slot *slot, const struct Qdisc *sch,
				       struct dualpi2_queue *queue, u32 truesize)
{
	if (sch->q.qlen >= slot->stats.params.limit)
		return &queue->drop_limit;
	if ((u64)slot->stats.memory_used + truesize > slot->stats.memlimit)
		return &queue->drop_memlimit;
	return NULL;
}

/* Count a packet that waits from now on. */
static __always_inline void count_queued(struct slot *slot, struct Qdisc *sch, u32 len,
					 u32 truesize)
{
	u32 memory = slot->stats.memory_used + truesize, qlen = sch->q.qlen + 1;

	slot->stats.memory_used = memory;
	if (memory > slot->stats.max_memory_used)
		slot->stats.max_memory_used = memory;
	sch->qstats.backlog += len;
	sch->q.qlen = qlen;
	if (qlen > slot->stats.maxq)
		slot->stats.maxq = qlen;
}

/* Let a packet into its queue, or drop it. `in_l` is a constant where this is called: each
 * queue has its own code, which knows where its counters are.
 */
static __always_inline int admit(struct slot *slot, struct Qdisc *sch, struct sk_buff *skb,
				 struct bpf_sk_buff_ptr *to_free, const struct verdict *verdict,
				 const bool in_l)
{
	struct dualpi2_queue *counters = counters_of(slot, in_l);
	const struct dualpi2_params *params = &slot->stats.params;
	struct queue *queue = queue_of(slot, in_l);
	struct packet_info info = {
		.len = qdisc_pkt_len(skb),
		.truesize = skb->truesize,
		.packets = verdict->packets,
		.flags = verdict->flags,
	};
	u64 now = verdict->now_ns, head_ns = counters->head_ns;
	int result = NET_XMIT_DROP;
	enum drop drop;
	u64 *cause;

	counters->packets_in += info.packets;
	counters->bytes_in += info.len;
	if (verdict->mark != MARK_NONE)
		count_mark(counters, verdict->mark, info.packets);
	if (info.packets > 1)
		slot->stats.gso_whole++;

	cause = over_limit(slot, sch, counters, info.truesize);
	if (cause) {
		sch->qstats.overlimits += info.packets;
		goto drop;
	}
	if (params->drop_enqueue) {
		drop = must_drop(slot, in_l, info.flags, in_l ? expected_l_delay(slot, now) : 0);
		if (drop != DROP_NONE) {
			cause = aqm_cause(counters, drop);
			/* To the sender it is on its way, as if dropped at dequeue. */
			result = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
			goto drop;
		}
	}
	/* Before push(), which then needs no memory, and whose exchange is a memory barrier:
	 * timer_fires() looks at this and at overdue_ns in the other order than we.
	 */
	if (!head_ns)
		counters->head_ns = now;
	if (!push(slot, queue, head_ns, skb, now, &info)) {
		cause = &counters->drop_no_memory;
		goto drop;
	}

	if (params->rate && !sch->q.qlen)
		shaper_wake(&slot->shaper, now);
	if (in_l)
		slot->l_packets += info.packets;
	count_queued(slot, sch, info.len, info.truesize);
	tick_wake(slot, now);
	return NET_XMIT_SUCCESS;

drop:
	count_drop(sch, counters, cause, info.packets, info.len);
	bpf_qdisc_skb_drop(skb, to_free);
	return result;
}

SEC("struct_ops/dualpi2_enqueue")
int BPF_PROG(dualpi2_enqueue, struct sk_buff *skb, struct Qdisc *sch,
	     struct bpf_sk_buff_ptr *to_free)
{
	struct slot *slot = slot_of_qdisc(sch);
	const struct verdict *verdict;

	if (!slot) {
		bpf_qdisc_skb_drop(skb, to_free);
		return NET_XMIT_DROP;
	}
	verdict = verdict_of(slot, skb);
	return verdict->flags & PACKET_L ? admit(slot, sch, skb, to_free, verdict, true)
					 : admit(slot, sch, skb, to_free, verdict, false);
}

/* ---- dequeue --------------------------------------------------------------- */

/* Packets that one call of dequeue drops at most before it lets others work. */
#define DROPS_AT_ONCE 64

/* Take the head of a queue and account for it; NULL if there is none. */
static __always_inline struct sk_buff *take(struct slot *slot, struct Qdisc *sch, const bool from_l,
					    struct packet_info *info)
{
	struct dualpi2_queue *counters = counters_of(slot, from_l);
	struct sk_buff *skb;
	u64 next_ns = 0;

	skb = pop(slot, queue_of(slot, from_l), &next_ns, info);
	if (!skb)
		return NULL;
	counters->head_ns = next_ns;
	if (from_l)
		slot->l_packets -= info->packets;
	slot->stats.memory_used -= info->truesize;
	sch->qstats.backlog -= info->len;
	if (!--sch->q.qlen)
		slot->stats.credit = slot->fresh_credit;
	return skb;
}

static __always_inline bool exceeds_limits(const struct slot *slot, const struct Qdisc *sch)
{
	return sch->q.qlen > slot->stats.params.limit ||
	       slot->stats.memory_used > slot->stats.memlimit;
}

static __always_inline void trim_from(struct slot *slot, struct Qdisc *sch, const bool from_l)
{
	struct dualpi2_queue *counters = counters_of(slot, from_l);
	struct packet_info info;
	struct sk_buff *skb = take(slot, sch, from_l, &info);

	if (!skb)
		return;
	count_drop(sch, counters, &counters->drop_trim, info.packets, info.len);
	bpf_kfree_skb(skb);
}

/* Walked through once (see drop_in_l()). */
__noinline int trim_one(struct Qdisc *sch __arg_trusted)
{
	struct slot *slot = slot_of_qdisc(sch);

	if (!slot)
		return 0;
	if (slot->stats.c.head_ns)
		trim_from(slot, sch, false);
	else
		trim_from(slot, sch, true);
	return 0;
}

/* A limit was lowered under a backlog: make it hold, at the expense of Classic first
 * (as sch_dualpi2 does).
 */
static __noinline int trim(struct slot *slot, struct Qdisc *sch)
{
	u32 i;

	slot->to_trim = 0;
	bpf_for(i, 0, DUALPI2_LIMIT_MAX) {
		if (!exceeds_limits(slot, sch))
			break;
		trim_one(sch);
	}
	return 0;
}

/* Bytes on the link where they are not those of the qdisc layer: walked through once. */
__noinline u32 framed_len(u32 number, u32 len, u32 packets, u32 link_header)
{
	struct slot *slot = slot_by_number(number);

	return slot ? shaper_wire_len(&slot->stats.params, len, packets, link_header) : len;
}

/* The link is busy with a packet. */
static __always_inline void charge_link(struct slot *slot, const struct sk_buff *skb,
					const struct packet_info *info, u64 now)
{
	const struct dualpi2_params *params = &slot->stats.params;
	u32 len = info->len;

	if (!params->rate)
		return;
	if (slot->is_framed)
		len = framed_len(slot->stats.slot, len, info->packets, network_offset(skb));
	shaper_charge(&slot->shaper, params->rate, now, len);
}

/* Serve the head of a queue. `contended`: the other one waits, too. NULL: the AQM
 * dropped it.
 */
static __always_inline struct sk_buff *serve_from(struct slot *slot, struct Qdisc *sch,
						  const bool from_l, bool contended, u64 now)
{
	struct dualpi2_histogram *delays = from_l ? &slot->delays.l : &slot->delays.c;
	struct dualpi2_queue *counters = counters_of(slot, from_l);
	const struct dualpi2_params *params = &slot->stats.params;
	s64 sojourn_ns = now - counters->head_ns;
	struct packet_info info;
	struct sk_buff *skb;
	enum drop drop;

	skb = take(slot, sch, from_l, &info);
	if (!skb)
		return NULL;
	if (sojourn_ns < 0) /* its time was taken on another CPU */
		sojourn_ns = 0;
	if (!params->drop_enqueue) {
		drop = must_drop(slot, from_l, info.flags, sojourn_ns);
		if (drop != DROP_NONE) {
			count_drop(sch, counters, aqm_cause(counters, drop), info.packets,
				   info.len);
			bpf_kfree_skb(skb);
			return NULL;
		}
	}

	if (contended)
		slot->stats.credit = scheduler_charge(slot->stats.credit,
						      params->classic_protection, from_l, info.len);
	charge_link(slot, skb, &info, now);
	counters->packets_out += info.packets;
	counters->bytes_out += info.len;
	histogram_record(delays, sojourn_ns, from_l ? &slot->l_octave : &slot->c_octave);
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

/* Serve the queue whose turn it is. NULL: the AQM dropped the packet. */
static __always_inline struct sk_buff *serve(struct slot *slot, struct Qdisc *sch, u64 now)
{
	bool l_waits = slot->stats.l.head_ns, c_waits = slot->stats.c.head_ns;

	if (scheduler_serves_l(slot->stats.credit, l_waits, c_waits))
		return serve_from(slot, sch, true, c_waits, now);
	return serve_from(slot, sch, false, l_waits, now);
}

/* The same into the handover, walked through once (see drop_in_l()): for a loop, whose every turn
 * the verifier would take all ways through serve(). False: the AQM dropped the packet.
 */
__noinline int serve_again(struct Qdisc *sch __arg_trusted, u64 now)
{
	struct handover *handover = handover_of_qdisc(sch);
	struct slot *slot = slot_of_qdisc(sch);
	struct sk_buff *skb;

	if (!slot || !handover)
		return false;
	skb = serve(slot, sch, now);
	if (!skb)
		return false;
	put_skb(&handover->skb, skb);
	return true;
}

/* The AQM dropped the first packet: go on to one that it leaves alone. */
static __noinline struct sk_buff *serve_on(struct Qdisc *sch, u64 now)
{
	struct handover *handover = handover_of_qdisc(sch);
	int i;

	if (!handover)
		return NULL;
	bpf_for(i, 0, DROPS_AT_ONCE) {
		if (!sch->q.qlen)
			return NULL;
		if (serve_again(sch, now))
			return bpf_kptr_xchg(&handover->skb, NULL);
	}
	/* all dropped so far: come back at once */
	bpf_qdisc_watchdog_schedule(sch, now, 0);
	return NULL;
}

SEC("struct_ops/dualpi2_dequeue")
struct sk_buff *BPF_PROG(dualpi2_dequeue, struct Qdisc *sch)
{
	struct sk_buff *skb;
	struct slot *slot;
	u64 now;

	if (!sch->q.qlen)
		return NULL;
	slot = slot_of_qdisc(sch);
	if (!slot)
		return NULL;
	if (slot->to_trim)
		trim(slot, sch);
	now = bpf_ktime_get_ns();
	if (!shaper_ready(&slot->shaper, slot->stats.params.rate, now)) {
		bpf_qdisc_watchdog_schedule(sch, shaper_look(&slot->shaper, now), 0);
		return NULL;
	}
	skb = serve(slot, sch, now);
	if (skb)
		return skb;
	return serve_on(sch, now);
}

/* ---- life cycle ------------------------------------------------------------ */

/* More than the compiler writes out; and bpf_probe_read_kernel(), which copies as well, is not
 * allowed in a kernel that is locked down.
 */
static __always_inline void copy(void *to, const void *from, u32 size)
{
	struct bpf_dynptr target;

	bpf_dynptr_from_mem(to, size, 0, &target);
	bpf_dynptr_write(&target, 0, (void *)from, size, 0);
}

/* Put parameters in force. */
static __always_inline void apply_params(struct slot *slot, const struct dualpi2_params *params)
{
	slot->stats.params = *params;
	set_frame_len(slot);
	slot->stats.memlimit = dualpi2_memlimit(params, slot->frame_len);
	slot->to_trim = 1;
	slot->is_framed = params->framing != DUALPI2_FRAMING_RAW || params->mpu;
	classify_params(slot, params, slot->stats.handle);
	aqm_params(slot, params);
}

/* What dualpi2-load has set for an interface; NULL: nothing. It has attached our tcx program as
 * well, so where there is none the parameters are a former interface's with the same number.
 */
static __always_inline const struct dualpi2_params *conf_of(const struct net_device *dev,
							    const struct dualpi2_key *conf_key)
{
	return dev->tcx_egress ? bpf_map_lookup_elem(&dualpi2_conf, conf_key) : NULL;
}

SEC("struct_ops/dualpi2_init")
int BPF_PROG(dualpi2_init, struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	const struct net_device *dev = device_below(sch);
	struct dualpi2_key conf_key = {
		.netns = netns_of(dev),
		.ifindex = dev->ifindex,
	};
	const struct dualpi2_params *conf;
	struct slot *slot;

	slot = slot_claim(sch, dev->ifindex);
	if (!slot)
		return -ENOSPC;
	copy(&slot->stats, &fresh_stats, sizeof(slot->stats));
	copy(&slot->delays, &fresh_delays, sizeof(slot->delays));
	for (int i = 0; i < (int)sizeof(slot->stats.ifname) - 1 && dev->name[i]; i++)
		slot->stats.ifname[i] = dev->name[i];
	slot->stats.slot = sch->limit;
	slot->stats.handle = sch->handle;
	slot->key = conf_key;
	slot->key.parent = sch->parent;
	slot->netns_inode = dev->nd_net.net->ns.inum;
	if (bpf_map_update_elem(&dualpi2_places, &slot->key, &slot->stats.slot, BPF_ANY)) {
		slot->qdisc = 0;
		return -ENOMEM;
	}
	slot->shaper = (struct shaper){};
	slot->l_packets = 0;
	slot->overdue_ns = 0;

	*(struct aqm_params *)slot->stats.params.aqm = (struct aqm_params)AQM_DEFAULT_PARAMS;
	conf = conf_of(dev, &conf_key);
	apply_params(slot, conf ? conf : &slot->stats.params);
	slot->stats.credit = slot->fresh_credit;
	aqm_reset(slot);

	/* -EBUSY: the slot was used before and has its timer. */
	bpf_timer_init(&slot->timer, &dualpi2_slots, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&slot->timer, timer_fires);
	slot->root_of = sch->parent == TC_H_ROOT ? (u64)dev : 0;
	publish(slot, bpf_ktime_get_ns());
	return 0;
}

/* What is queued is thrown away, and counted. */
static __always_inline void count_reset(struct Qdisc *sch, struct dualpi2_queue *queue)
{
	count_drop(sch, queue, &queue->drop_reset, dualpi2_queue_packets(queue),
		   dualpi2_queue_bytes(queue));
	queue->head_ns = 0;
}

/* The link goes down, or the qdisc is about to be destroyed. Statistics stay. */
SEC("struct_ops/dualpi2_reset")
void BPF_PROG(dualpi2_reset, struct Qdisc *sch)
{
	struct slot *slot = slot_of_qdisc(sch);

	if (!slot || slot->qdisc != (u64)sch)
		return;
	queue_clear(slot, &slot->l);
	queue_clear(slot, &slot->c);
	count_reset(sch, &slot->stats.l);
	count_reset(sch, &slot->stats.c);
	slot->l_packets = 0;
	slot->stats.memory_used = 0;
	set_frame_len(slot);
	slot->stats.credit = slot->fresh_credit;
	slot->shaper = (struct shaper){};
	aqm_reset(slot);
	sch->qstats.backlog = 0;
	sch->q.qlen = 0;
	publish(slot, bpf_ktime_get_ns());
}

/* An interface that goes takes its parameters with it: the next one with its number is another
 * one.
 */
static __always_inline void forget_params(const struct slot *slot, const struct net_device *dev)
{
	const struct dualpi2_key conf_key = {
		.netns = slot->key.netns,
		.ifindex = slot->key.ifindex,
	};

	if (!is_listed(dev))
		bpf_map_delete_elem(&dualpi2_conf, &conf_key);
}

/* Also called when init has failed: then the slot is not ours. */
SEC("struct_ops/dualpi2_destroy")
void BPF_PROG(dualpi2_destroy, struct Qdisc *sch)
{
	struct slot *slot = slot_of_qdisc(sch);

	if (!slot || slot->qdisc != (u64)sch)
		return;
	bpf_timer_cancel(&slot->timer);
	drain(slot, &slot->free_blocks, FREE_BLOCKS_MAX);
	slot->n_free = 0;
	if (!is_replaced(slot)) {
		bpf_map_delete_elem(&dualpi2_places, &slot->key);
		unpublish(&slot->key);
	}
	forget_params(slot, device_below(sch));
	slot->root_of = 0;
	slot->qdisc = 0;
}

/* ---- programs for the tools ------------------------------------------------- */

/* Change the parameters of a live instance. No state is touched but what hangs on a
 * parameter: a new `classic_protection` resets the credit (as in sch_dualpi2), a new
 * `rate` frees the link, a new `tupdate` starts now. A lower limit is made to hold by
 * the next dequeue: only there the qdisc's lock is held.
 */
SEC("syscall")
int dualpi2_change(struct dualpi2_change *change)
{
	struct dualpi2_key key = change->key;
	struct dualpi2_params new = change->params, old;
	struct slot *slot = slot_at(&key);
	u64 now = bpf_ktime_get_ns();

	if (!slot || !slot->qdisc)
		return -ENOENT;
	old = slot->stats.params;
	apply_params(slot, &new);
	if (new.classic_protection != old.classic_protection)
		slot->stats.credit = slot->fresh_credit;
	if (new.rate != old.rate)
		shaper_restart(&slot->shaper, now);
	if (aqm_own(&new)->tupdate_ns != aqm_own(&old)->tupdate_ns)
		tick_restart(slot, now);
	publish(slot, now);
	return 0;
}

/* Bring the public statistics of all live instances up to date. */
SEC("syscall")
int dualpi2_refresh(void *unused)
{
	u64 now = bpf_ktime_get_ns();
	struct slot *slot;
	u32 number;

	bpf_for(number, 0, DUALPI2_MAX_INSTANCES) {
		slot = slot_by_number(number);
		if (slot && slot->qdisc)
			publish(slot, now);
	}
	return 0;
}

/* Is there a network namespace with this cookie? It comes as the packet of a test run, which is on
 * the loopback device of the caller's namespace (net/bpf/test_run.c); from there the kernel's list
 * leads to all others and back. Its head is no namespace, but can be read as one. Returns enum
 * dualpi2_netns.
 */
SEC("tc")
int dualpi2_find_netns(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const struct net *first = device_of(skb)->nd_net.net, *net = first;
	u64 cookie;
	u32 i;

	if (bpf_skb_load_bytes(ctx, 0, &cookie, sizeof(cookie)))
		return DUALPI2_NETNS_UNKNOWN;
	bpf_for(i, 0, DUALPI2_NETNS_MAX) {
		if (net->net_cookie == cookie)
			return DUALPI2_NETNS_FOUND;
		net = bpf_rdonly_cast((void *)net->list.next -
					      bpf_core_field_offset(struct net, list),
				      bpf_core_type_id_kernel(struct net));
		if (net == first)
			return DUALPI2_NETNS_NONE;
	}
	return DUALPI2_NETNS_UNKNOWN;
}

SEC(".struct_ops.link")
struct Qdisc_ops dualpi2 = {
	.enqueue = (void *)dualpi2_enqueue,
	.dequeue = (void *)dualpi2_dequeue,
	.init = (void *)dualpi2_init,
	.reset = (void *)dualpi2_reset,
	.destroy = (void *)dualpi2_destroy,
	.id = DUALPI2_KIND,
};
