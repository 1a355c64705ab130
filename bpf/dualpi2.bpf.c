// SPDX-License-Identifier: GPL-2.0-only
/* DualPI2 (RFC 9332, DualQ Coupled AQM) as an eBPF qdisc, and its family.
 *
 * One link, two queues. L4S packets (ECT(1) and CE, RFC 9331) wait in the L queue,
 * all others in the C queue. A packet goes through this file from top to bottom:
 *
 *	tcx egress    dualpi2_mark     sends GSO packets through a device that splits
 *	                               them (split.bpf.h); finds the ECN field,
 *	                               chooses the queue and decides the ECN mark,
 *	                               because a BPF qdisc may not write to the
 *	                               packet; leaves a tag
 *	qdisc         dualpi2_enqueue  limits, timestamp, tail of its queue
 *	              dualpi2_dequeue  shaper, scheduler (L first, Classic protected),
 *	                               drop decisions, sojourn time
 *	              timer_fires      every update period: the AQM looks at the queues;
 *	                               statistics to the public maps
 *
 * The AQM is a plug: this file is compiled once for each bpf/aqm/NAME.bpf.h, with AQM_H, into an
 * object and a qdisc kind of its own. aqm.bpf.h is the contract, PI2 the default.
 *
 * p' is the one variable that couples both queues: Classic packets are marked or
 * dropped with p_C = p'^2, L packets marked with p_CL = k * p' or by the step,
 * whichever comes first. A scalable flow reacts to every mark, a Classic one
 * to the square root of its loss; so with k = 2 both get about the same rate
 * (RFC 9332, 2.1).
 *
 * `make demo` shows it with one Cubic and one L4S flow: the Classic queue settles at
 * the target, and L packets wait less than the step.
 *
 * The headers next to this file, in the order of a packet's way:
 *	ingress   the way in, through an ifb      tick      the periodic work
 *	split     GSO packets                     overload  overload events
 *	txqueue   which qdisc of an mq            publish   what people see
 *	ecn       the ECN field                   instance  the structs
 *	classify  which of the two queues         maps      where they are
 *	guard     who may stay in L               flows     what is known of each
 *	conviction  who may not, for the tools    flow_name what it is called
 *	sparse    who may enter L besides         aqm       the contract of an AQM
 *	tag       what tcx tells enqueue          coupled   what p' means to each packet
 *	account   counters and limits             kernel    what the kernel offers
 *	fifo      lists of packets                verifier  what it wants to be told
 *	serve     departure                       drop      asking the AQM
 *	link      the contract of a link          aqm_rest  what an AQM leaves out
 *	frames    bytes on the link               update    what changes without a packet
 *	clock     when a packet may leave         schedule  which DualQ: the contract
 *	packet    what is known of one            turns     and its functions
 *	empty     how queues begin, and how all that waits is thrown away
 * and the integer arithmetic, shared with the unit tests, is in include/.
 */
#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dualpi2.h"
#include "scheduler.h"

#include "account.bpf.h"
#include "classify.bpf.h"
#include "clock.bpf.h"
#include "drop.bpf.h"
#include "ecn.bpf.h"
#include "empty.bpf.h"
#include "fifo.bpf.h"
#include "find_netns.bpf.h"
#include "frames.bpf.h"
#include "guard.bpf.h"
#include "ingress.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "publish.bpf.h"
#include "serve.bpf.h"
#include "sparse.bpf.h"
#include "split.bpf.h"
#include "tag.bpf.h"
#include "tick.bpf.h"
#include "turns.bpf.h"
#include "txqueue.bpf.h"
#include "update.bpf.h"
#include "verifier.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- on the way to the queues ------------------------------------------------ */

/* What arrives at an interface with --ingress. */
SEC("tcx/ingress")
int dualpi2_ingress(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const struct net_device *dev = device_of(skb);
	u32 ifb = ifb_for(dev);

	return ifb && enters_ifb(ctx, skb, dev) ? bpf_redirect(ifb, 0) : TCX_NEXT;
}

/* In front of the tcx programs of others, where there are some, so that they see a packet
 * once.
 */
SEC("tcx/egress")
int dualpi2_split(struct __sk_buff *ctx)
{
	struct instance *in;

	if (!ctx->gso_size)
		return TCX_NEXT;
	in = instance_for(ctx, device_of(bpf_cast_to_kern_ctx(ctx)));
	return in ? split(ctx, in) : TCX_NEXT;
}

/* A segment is on its way back. */
SEC("netkit/primary")
int dualpi2_segment(struct __sk_buff *ctx)
{
	return send_back(ctx);
}

/* The PACKET_* of a packet by what its flow does to the queues. (The arrival is a copy: its caller
 * has it in registers.)
 */
static __always_inline u32 judge(struct __sk_buff *ctx, struct instance *in, struct dualq *q,
				 struct arrival arrival)
{
	if (arrival.flags & PACKET_L)
		return in->judges_flows & JUDGES_L ? guard(ctx, in, q, &arrival) : arrival.flags;
	return in->judges_flows & JUDGES_C ? sparse(ctx, in, q, &arrival) : arrival.flags;
}

/* What the AQM says of a packet: sets CE, and in `arrival` what enqueue has to know. */
static __always_inline enum mark mark_in(struct __sk_buff *ctx, struct instance *in,
					 struct dualq *q, struct arrival *arrival, bool is_direct)
{
	enum mark mark = MARK_NONE;
	bool is_convict = false;

	dualq_touch(in, q, arrival->now);
	if (rarely(in->judges_flows)) {
		arrival->flags = judge(ctx, in, q, *arrival);
		is_convict = arrival->flags & PACKET_CONVICT;
	}
	arrival->note = aqm_note(ctx, in, q, arrival);
	if (!(arrival->flags & PACKET_MARKABLE))
		return MARK_NONE;
	if (is_convict)
		mark = MARK_GUARD;
	else if (aqm_may_mark(in, q))
		mark = aqm_mark(in, q, arrival);
	if (mark != MARK_NONE && !ecn_set_ce(ctx, is_direct)) {
		arrival->flags |= PACKET_NOT_ECT;
		return MARK_NONE;
	}
	return mark;
}

SEC("tcx/egress")
int dualpi2_mark(struct __sk_buff *ctx)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	/* Not device_of(): each packet comes here, and a trusted pointer is read faster. */
	struct instance *in = instance_for(ctx, skb->dev);
	struct arrival arrival = { .packets = 1 };
	enum mark mark = MARK_NONE;
	bool is_direct = true;
	struct ip_header ip;
	struct dualq *q;
	u32 label;
	int way;

	if (!in)
		return TCX_NEXT;
	if (ctx->gso_size) {
		way = split(ctx, in);
		if (way != TCX_NEXT)
			return way;
		arrival.packets = wire_packets(skb);
	}
	ip.tos = tos_direct(ctx, skb);
	if (ip.tos == NO_TOS) {
		ip_find(ctx, &ip);
		is_direct = false;
	}
	arrival.flags = classify(in, ip.tos, ctx->priority);
	arrival.now = bpf_ktime_get_ns();
	label = schedule_label(ctx, in, is_direct);
	q = schedule_find(in, label);
	if (q) /* else it will be the first packet of an empty one */
		mark = mark_in(ctx, in, q, &arrival, is_direct);
	tag_write(ctx, in, &arrival, label, mark);
	return TCX_NEXT;
}

/* ---- enqueue --------------------------------------------------------------- */

/* Let a packet into its queue, or drop it. `in_l` is a constant where this is called: each
 * queue has its own code, which knows where its counters are.
 */
static __always_inline int admit(struct instance *in, struct dualq *q, struct Qdisc *sch,
				 struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free,
				 const struct tag *tag, const bool in_l)
{
	struct dualpi2_counters *counters = counters_of(in, q, in_l);
	struct packet_info info = {
		.len = qdisc_pkt_len(skb),
		.truesize = skb->truesize,
		.packets = tag->packets,
		.flags = tag->flags,
	};
	int result = NET_XMIT_DROP;
	u64 now = tag->now_ns;
	struct slot slot;
	u64 expected_ns;
	enum drop drop;
	u64 *cause;

	count_arrival(in, q, counters, &info, tag_mark(tag), in_l);
	cause = over_limit(in, q, sch, counters, info.truesize);
	if (cause) {
		sch->qstats.overlimits += info.packets;
		goto drop;
	}
	if (!in_l && rarely(info.flags & PACKET_CONVICT) && guard_refuses(in, q, &info, now)) {
		cause = &counters->drop_guard;
		goto drop;
	}
	aqm_arrives(in, q, &info, tag_note(tag), in_l, now);
	if (link_drops_early(in)) {
		expected_ns = in_l ? l_forecast(in, q, now, ~0ULL) : queue_age(q, false, now);
		drop = must_drop(in, q, info.flags, in_l, expected_ns, now);
		if (drop != DROP_NONE) {
			cause = cause_of(counters, drop);
			charge_lost(in, q, skb, &info, now);
			/* To the sender it is on its way, as if dropped at dequeue. */
			result = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
			goto drop;
		}
	}
	slot = link_enter(in, q, skb, &info, in_l, now);
	if (!push(in, q, fifo_of(q, in_l), skb, now, &info, slot)) {
		link_turn_back(in, q, skb, &info, in_l, now);
		cause = &counters->drop_no_memory;
		goto drop;
	}

	link_wake(in, sch, now);
	if (in_l)
		q->l_packets += info.packets;
	link_hold(in, &info, in_l);
	schedule_queued(in, q, &info, in_l);
	count_queued(in, sch, &info);
	tick_wake(in, now);
	return NET_XMIT_SUCCESS;

drop:
	count_drop(sch, q, counters, cause, &info, in_l);
	bpf_qdisc_skb_drop(skb, to_free);
	return result;
}

SEC("struct_ops/dualpi2_enqueue")
int BPF_PROG(dualpi2_enqueue, struct sk_buff *skb, struct Qdisc *sch,
	     struct bpf_sk_buff_ptr *to_free)
{
	struct instance *in = instance_of(sch);
	const struct tag *tag = NULL;
	struct dualq *q = NULL;
	u32 home;

	if (in) {
		tag = tag_read(in, skb);
		q = schedule_claim(in, tag_label(tag), tag->now_ns, &home);
	}
	if (!q) {
		bpf_qdisc_skb_drop(skb, to_free);
		return NET_XMIT_DROP;
	}
	if (SEVERAL && q->start_ns != in->start_ns)
		dualq_renew(in->number, home, tag->now_ns);
	dualq_touch(in, q, tag->now_ns);
	return tag->flags & PACKET_L ? admit(in, q, sch, skb, to_free, tag, true)
				     : admit(in, q, sch, skb, to_free, tag, false);
}

/* ---- dequeue --------------------------------------------------------------- */

/* No packet may leave before `until_ns`. */
static __always_inline void watch(struct instance *in, struct Qdisc *sch, u64 now, u64 until_ns)
{
	if (without_timer)
		until_ns = tick_without_timer(in, now, until_ns);
	if (!link_looks(in, now, until_ns))
		bpf_qdisc_watchdog_schedule(sch, until_ns, 0);
}

/* Both queues are empty, and there is no timer for the updates. */
static __noinline int watch_empty(struct Qdisc *sch)
{
	struct instance *in = instance_of(sch);
	u64 until_ns;

	if (!in)
		return 0;
	until_ns = tick_without_timer(in, bpf_ktime_get_ns(), ~0ULL);
	if (until_ns != ~0ULL)
		bpf_qdisc_watchdog_schedule(sch, until_ns, 0);
	return 0;
}

SEC("struct_ops/dualpi2_dequeue")
struct sk_buff *BPF_PROG(dualpi2_dequeue, struct Qdisc *sch)
{
	struct sk_buff *skb = NULL;
	struct instance *in;
	enum turn turn;
	u64 now;

	if (!sch->q.qlen) {
		if (without_timer)
			watch_empty(sch);
		return NULL;
	}
	in = instance_of(sch);
	if (!in)
		return NULL;
	if (in->to_trim)
		trim(in, sch);
	now = bpf_ktime_get_ns();
	if (!link_is_free(in, now)) {
		watch(in, sch, now, link_look(in, now));
		return NULL;
	}
	turn = serve(in, sch, now, &skb);
	if (turn == TURN_AGAIN)
		return serve_on(sch, now);
	if (turn == TURN_HELD)
		watch(in, sch, now, schedule_held_ns(in));
	return skb;
}

/* ---- every update period ----------------------------------------------------- */

static int timer_fires(void *map, u32 *number, struct instance *in)
{
	u64 now = bpf_ktime_get_ns();

	if (!in->qdisc)
		return 0;
	timer_fired(in, now);
	return 0;
}

/* ---- life cycle ------------------------------------------------------------ */

/* Map values that are too large for the stack are started from these. */
const struct dualpi2_params default_params = DUALPI2_DEFAULT_PARAMS;
const struct dualpi2_delays no_delays = {};

static __always_inline void set_default_params(struct instance *in)
{
	in->params = default_params;
	*(struct aqm_params *)in->params.aqm = (struct aqm_params)AQM_DEFAULT_PARAMS;
}

/* Put the parameters in force. */
static __always_inline void apply_params(struct instance *in)
{
	link_params(in);
	link_measure(in);
	in->memlimit = dualpi2_memlimit(&in->params, full_frame(in));
	in->l_share = aqm_schedules(in) ? 100 : 100 - in->params.classic_protection;
	in->to_trim = 1;
	classify_params(in);
	schedule_params(in);
	in->guard_law = guard_make(&in->params, link_rate(in), in->l_share, full_frame(in),
				   aqm_c_delay(in));
	in->sparse_law = sparse_make(link_rate(in), wire_len(in, full_frame(in), 1));
	in->judges_flows = (in->params.guard ? JUDGES_L : 0) |
			   (in->params.sparse && link_rate(in) ? JUDGES_C : 0);
	aqm_params(in);
}

/* What dualpi2-load has set for an interface; NULL: nothing. It has attached our tcx program as
 * well, so where there is none the parameters are a former interface's with the same number.
 */
static __always_inline const struct dualpi2_params *conf_of(const struct net_device *dev,
							    const struct dualpi2_key *conf_key)
{
	return dev->tcx_egress ? bpf_map_lookup_elem(&dualpi2_conf, conf_key) : NULL;
}

/* Figures of a former qdisc end. */
static __always_inline void start_counting(struct instance *in)
{
	dualq_start_counting(in, first_dualq(in), 0, in->since_ns);
	in->l_counters = (struct dualpi2_counters){};
	in->c_counters = (struct dualpi2_counters){};
	in->max_memory_used = 0;
	in->maxq = 0;
	in->bypassed_tcx = 0;
	in->mispredicted = 0;
	in->gso_split = 0;
	in->gso_whole = 0;
	in->convictions = 0;
	in->redirected = 0;
	in->unjudged = 0;
	in->sparse_packets = 0;
	in->sparse_unknown = 0;
	copy(&in->delays, &no_delays, sizeof(in->delays));
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
	struct instance *in;

	in = instance_claim(sch, dev->ifindex);
	if (!in)
		return -ENOSPC;
	in->key = conf_key;
	in->key.parent = sch->parent;
	in->since_ns = bpf_ktime_get_ns();
	in->flow_key = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	in->handle = sch->handle;
	in->netns_inode = dev->nd_net.net->ns.inum;
	for (int i = 0; i < (int)sizeof(in->ifname); i++)
		in->ifname[i] = dev->name[i];
	if (bpf_map_update_elem(&dualpi2_live, &in->key, &in->number, BPF_ANY)) {
		in->qdisc = 0;
		return -ENOMEM;
	}

	conf = conf_of(dev, &conf_key);
	if (conf)
		in->params = *conf;
	else
		set_default_params(in);
	apply_params(in);
	link_join(in, dev, in->since_ns);
	start_empty(in, in->since_ns);
	start_counting(in);
	in->overdue_ns = 0;

	/* -EBUSY: the instance was used before and has its timer. Where there are none, the tools
	 * have found out (without_timer).
	 */
	bpf_timer_init(&in->timer, &dualpi2_qdiscs, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&in->timer, timer_fires);
	in->root_of = sch->parent == TC_H_ROOT ? (u64)dev : 0;
	publish(in, in->since_ns);
	return 0;
}

/* The link goes down, or the qdisc is about to be destroyed. */
SEC("struct_ops/dualpi2_reset")
void BPF_PROG(dualpi2_reset, struct Qdisc *sch)
{
	throw_all_away(sch);
}

/* An interface that goes takes its parameters with it: the next one with its number is another
 * one.
 */
static __always_inline void forget_params(const struct instance *in, const struct net_device *dev)
{
	const struct dualpi2_key conf_key = {
		.netns = in->key.netns,
		.ifindex = in->key.ifindex,
	};

	if (!is_listed(dev))
		bpf_map_delete_elem(&dualpi2_conf, &conf_key);
}

/* Also called when init has failed: then the instance is not ours. */
SEC("struct_ops/dualpi2_destroy")
void BPF_PROG(dualpi2_destroy, struct Qdisc *sch)
{
	struct instance *in = instance_of(sch);

	if (!in || in->qdisc != (u64)sch)
		return;
	bpf_timer_cancel(&in->timer);
	link_leave(in);
	free_blocks_drain(in);
	if (!is_replaced(in)) {
		bpf_map_delete_elem(&dualpi2_live, &in->key);
		unpublish(&in->key);
	}
	forget_params(in, device_below(sch));
	in->root_of = 0;
	in->qdisc = 0;
}

/* ---- programs for the tools ------------------------------------------------- */

/* Change the parameters of a live instance. No state is touched but what hangs on a
 * parameter: a new `classic_protection` resets the credit (as in sch_dualpi2), a new
 * `rate` frees the link, a new period starts now. A lower limit is made to hold by
 * the next dequeue: only there the qdisc's lock is held.
 */
SEC("syscall")
int dualpi2_change(struct dualpi2_change *change)
{
	struct dualpi2_key key = change->key;
	struct dualpi2_params new = change->params, old;
	struct instance *in = instance_at(&key);
	u64 now = bpf_ktime_get_ns();
	struct beginning begins;

	if (!in || !in->qdisc)
		return -ENOENT;
	old = in->params;
	in->params = new;
	apply_params(in);
	begins.credit = new.classic_protection != old.classic_protection;
	begins.sparse = new.sparse && !old.sparse;
	relaw(in, begins, now);
	link_set_rate(in, old.rate, now);
	if (aqm_period(&new) != aqm_period(&old))
		tick_restart(in, now);
	publish(in, now);
	return 0;
}

/* Bring the public statistics of all live instances up to date. */
SEC("syscall")
int dualpi2_refresh(void *unused)
{
	u64 now = bpf_ktime_get_ns();
	struct instance *in;
	u32 number;

	bpf_for(number, 0, DUALPI2_MAX_INSTANCES) {
		in = instance_by_number(number);
		if (in && in->qdisc)
			publish(in, now);
	}
	return 0;
}

SEC("tc")
int dualpi2_find_netns(struct __sk_buff *ctx)
{
	return find_netns(ctx);
}

SEC(".struct_ops.link")
struct Qdisc_ops dualpi2 = {
	.enqueue = (void *)dualpi2_enqueue,
	.dequeue = (void *)dualpi2_dequeue,
	.init = (void *)dualpi2_init,
	.reset = (void *)dualpi2_reset,
	.destroy = (void *)dualpi2_destroy,
	.id = SCHEDULE_KIND,
};
