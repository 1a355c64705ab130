/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LINK_SHARED_CLOCK_BPF_H
#define LINK_SHARED_CLOCK_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "claim.bpf.h"
#include "dualpi2.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "share.h"
#include "shaper.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

_Static_assert(!SEVERAL, "the first DualQ is in its instance");

/* A device has at least one qdisc of those that there can be. */
static struct shared_link links[DUALPI2_MAX_INSTANCES] __attribute__((aligned(LINK_LINE)));

/* A wake-up that comes so much too late is not moved: that would cost more than it is worth. One
 * that is so near may have happened, by another CPU's clock.
 */
#define LINK_NEAR_NS 1000

/* A head that waits looks so often whether its time has come, because nobody can tell it that the
 * rate has risen: less than it may be late without losing its place.
 */
#define LINK_LOOK_NS (SHARE_SLACK_NS / 4 * 3)

/* The pace begins anew after this time, so that its products have room (share_is_old()). */
#define LINK_PACE_NS DUALPI2_NSEC_PER_SEC

static __always_inline struct shared_link *link_number(u32 number)
{
	return &links[number % DUALPI2_MAX_INSTANCES];
}

static __always_inline struct shared_link *link_of(const struct instance *in)
{
	const u64 offset = (u64)in->on.offset & (DUALPI2_MAX_INSTANCES - 1) * LINK_SIZE;

	return (struct shared_link *)((char *)links + offset);
}

static __always_inline u32 link_number_of(const struct instance *in)
{
	return (u64)in->on.offset / LINK_SIZE;
}

static __always_inline struct shared_link *link_of_dualq(const struct dualq *q)
{
	return link_of(container_of(q, struct instance, dualq));
}

static __always_inline struct share_queue *queue_of(struct instance *in, bool in_l)
{
	return in_l ? &in->link.clock.l : &in->link.clock.c;
}

static __always_inline u64 *end_of(struct share *share, bool in_l)
{
	return in_l ? &share->l_end : &share->c_end;
}

/* ---- whose the AQM is ------------------------------------------------------------ */

static __always_inline struct aqm *aqm_of(struct dualq *q)
{
	return &link_of_dualq(q)->aqm;
}

static __always_inline struct coupled *coupled_of(struct dualq *q)
{
	return &link_of_dualq(q)->coupled;
}

static __always_inline struct dualpi2_overload *overload_of(struct dualq *q)
{
	return &link_of_dualq(q)->overload;
}

static __always_inline u64 *updates_of(struct dualq *q)
{
	return &link_of_dualq(q)->updates;
}

static __always_inline u32 l_packets(const struct dualq *q)
{
	return link_of_dualq(q)->share.l_packets;
}

static __always_inline u64 backlog_bytes(const struct instance *in, const struct dualq *q)
{
	return link_of_dualq(q)->share.held & SHARE_BYTES;
}

/* What a packet that comes to L now has to wait for. */
static __always_inline u64 l_wait_ns(const struct share *share, u64 now)
{
	const u64 at = share_at(share, true, share_work(share_pace(share), now));

	return share_ns(share_ahead(*(const volatile u64 *)&share->l_end, at), share->rate);
}

/* In L not the age of a head, which tells what came as long ago. As packets are dropped when they
 * come, an AQM that sees that only later goes to and fro, and under a flood does not come to rest.
 */
static __always_inline u64 oldest_age(const struct dualq *q, bool in_l, u64 now)
{
	const struct shared_link *link = link_of_dualq(q);
	const u64 head_ns = in_l ? link->l_oldest_ns : link->c_oldest_ns;

	if (in_l && link->share.rate)
		return l_wait_ns(&link->share, now);
	return head_ns && now > head_ns ? now - head_ns : 0;
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline void link_set_rate(struct instance *in, u64 former, u64 now)
{
	struct share *share = &link_of(in)->share;
	const u64 rate = in->params.rate;
	u32 i;

	if (share->rate == rate) /* another qdisc was told before */
		return;
	/* Somebody may begin the pace anew, which takes a moment. */
	bpf_for(i, 0, 1000) {
		if (share_set_rate(share, rate, now))
			break;
	}
}

/* The link of a device, or a free one; DUALPI2_MAX_INSTANCES: none. */
static __noinline u32 link_find(u64 device, u32 hint)
{
	u32 i, number;

	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		number = (hint + i) % DUALPI2_MAX_INSTANCES;
		if (link_number(number)->device == device)
			return number;
	}
	return DUALPI2_MAX_INSTANCES;
}

static __always_inline void link_begin(struct shared_link *link, u64 period_ns, u64 now)
{
	__builtin_memset(&link->share, 0, sizeof(link->share));
	link->share.pace[0].at_ns = now;
	link->overload = (struct dualpi2_overload){};
	link->update_due_ns = now + period_ns;
	link->updates = 0;
	link->l_oldest_ns = 0;
	link->c_oldest_ns = 0;
	link->first = 0;
	link->members = 0;
}

static __always_inline bool link_join(struct instance *in, const struct net_device *dev, u64 now)
{
	const u64 device = (u64)dev;
	struct shared_link *link;
	u32 number, i;

	number = link_find(device, dev->ifindex);
	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		if (number < DUALPI2_MAX_INSTANCES)
			break;
		/* Under RTNL, but not everything of a device is under the same one for ever. */
		number = link_find(0, dev->ifindex);
		if (number == DUALPI2_MAX_INSTANCES)
			return false;
		link = link_number(number);
		if (__sync_val_compare_and_swap(&link->device, 0, device))
			number = DUALPI2_MAX_INSTANCES;
		else
			link_begin(link, aqm_period(&in->params), now);
	}
	link = link_number(number);
	in->on.offset = (const void *)((u64)number * LINK_SIZE);
	in->link.clock = (struct link_clock){ .next = link->first };
	link->first = in->number + 1;
	link->members++;
	link_set_rate(in, 0, now);
	return true;
}

/* The link for who waits is that of this one. */
static __noinline int link_unlist(struct shared_link *link, u32 place, u32 next)
{
	struct instance *member;
	u32 at = link->first, i;

	if (at == place) {
		link->first = next;
		return 0;
	}
	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		member = at ? instance_by_number(at - 1) : NULL;
		if (!member)
			break;
		at = member->link.clock.next;
		if (at == place) {
			member->link.clock.next = next;
			break;
		}
	}
	return 0;
}

static __always_inline void link_leave(struct instance *in)
{
	struct shared_link *link = link_of(in);

	link_unlist(link, in->number + 1, in->link.clock.next);
	if (!--link->members)
		link->device = 0;
}

static __always_inline void link_start_empty(struct instance *in)
{
	in->link.clock.l = (struct share_queue){};
	in->link.clock.c = (struct share_queue){};
	in->link.clock.looks_ns = 0;
}

static __always_inline bool link_forgets(const struct instance *in)
{
	return !(link_of(in)->share.held / SHARE_PACKET);
}

static __always_inline u64 older(u64 one_ns, u64 other_ns)
{
	return !one_ns || (other_ns && other_ns < one_ns) ? other_ns : one_ns;
}

/* Look at the heads of all qdiscs. The list may change meanwhile: then some are not seen. */
GLOBAL_SUBPROG int link_look_at_heads(u32 number)
{
	struct shared_link *link = link_number(number);
	u64 l_oldest_ns = 0, c_oldest_ns = 0;
	struct instance *member;
	u32 at = link->first, i;

	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		member = at ? instance_by_number(at - 1) : NULL;
		if (!member || link_number_of(member) != number)
			break;
		l_oldest_ns = older(l_oldest_ns, member->dualq.l.head_ns);
		c_oldest_ns = older(c_oldest_ns, member->dualq.c.head_ns);
		at = member->link.clock.next;
	}
	link->l_oldest_ns = l_oldest_ns;
	link->c_oldest_ns = c_oldest_ns;
	return 0;
}

/* A new beginning of the same pace. */
GLOBAL_SUBPROG int link_wakes(u32 number, u64 now)
{
	share_wake(&link_number(number)->share, now);
	return 0;
}

static __always_inline bool link_updates(struct instance *in, u64 now, u64 most, u64 *periods)
{
	struct shared_link *link = link_of(in);
	const u64 due = claim_updates(&link->update_due_ns, aqm_period(&in->params), now);

	if (!due)
		return false;
	*periods = due < most ? due : most;
	link_look_at_heads(link_number_of(in));
	if ((s64)(now - share_pace(&link->share)->at_ns) > (s64)LINK_PACE_NS)
		link_wakes(link_number_of(in), now);
	return true;
}

/* ---- what waits ------------------------------------------------------------------ */

/* Nothing is read by what is added here. */
#define ADD(sum, what) __atomic_fetch_add(&(sum), what, __ATOMIC_RELAXED)

static __always_inline u64 memory_of(const struct packet_info *info, bool in_l)
{
	return info->truesize + (in_l ? 0 : info->packets * SHARE_PACKET);
}

static __always_inline void link_hold(struct instance *in, const struct packet_info *info,
				      bool in_l)
{
	struct share *share = &link_of(in)->share;

	ADD(share->held, SHARE_PACKET + info->len);
	ADD(share->memory, memory_of(info, in_l));
	if (in_l)
		ADD(share->l_packets, info->packets);
}

static __always_inline void link_release(struct instance *in, const struct packet_info *info,
					 bool in_l)
{
	struct share *share = &link_of(in)->share;

	ADD(share->held, -(SHARE_PACKET + info->len));
	ADD(share->memory, -memory_of(info, in_l));
	if (in_l)
		ADD(share->l_packets, -(u32)info->packets);
}

static __always_inline u64 held_packets(const struct instance *in, const struct Qdisc *sch)
{
	return link_of(in)->share.held / SHARE_PACKET;
}

static __always_inline u64 held_memory(const struct instance *in)
{
	return link_of(in)->share.memory & SHARE_BYTES;
}

/* ---- packets that come ----------------------------------------------------------- */

static __always_inline bool link_drops_early(const struct instance *in)
{
	return true;
}

/* Work of a packet. */
static __always_inline u64 work_of(const struct instance *in, const struct sk_buff *skb,
				   const struct packet_info *info)
{
	return share_work_of(len_on_link(in, skb, info));
}

/* And the gap for C, if the packet has taken one. */
static __always_inline u64 with_gap(const struct instance *in, const struct packet_info *info,
				    u64 work)
{
	return info->flags & PACKET_SPACED ? work + share_gap(work, in->l_share) : work;
}

/* The same of all that waits in a queue, rounded for all of them at once. */
static __always_inline u64 work_waiting(struct instance *in, struct dualq *q, bool in_l)
{
	const struct dualpi2_counters *counters = counters_of(in, q, in_l);

	return share_work_of(
		wire_len(in, dualpi2_backlog_bytes(counters), dualpi2_backlog_packets(counters)));
}

static __always_inline struct slot link_enter(struct instance *in, struct dualq *q,
					      const struct sk_buff *skb, struct packet_info *info,
					      const bool in_l, u64 now)
{
	struct share *share = &link_of(in)->share;
	const struct share_pace *pace = share_pace(share);
	u64 at, work;

	if (rarely(share_is_old(pace, now))) {
		link_wakes(link_number_of(in), now);
		pace = share_pace(share);
	}
	at = share_work_near(pace, now);
	if (!pace->mult)
		return (struct slot){};
	work = work_of(in, skb, info);
	if (in_l && share_c_waits(share)) {
		info->flags |= PACKET_SPACED;
		work = with_gap(in, info, work);
	}
	if (!fifo_waits(in_l ? &q->l : &q->c)) {
		queue_of(in, in_l)->left = 0;
		if (!in_l)
			in->link.clock.c_start = 0;
		if (!dualq_waits(q))
			in->link.clock.epoch = share->epoch;
	}
	if (in_l)
		return (struct slot){ share_enter_l(share, pace, at, work) };
	return (struct slot){ share_enter_c(share, share_at(share, false, at), work) };
}

static __always_inline void link_turn_back(struct instance *in, struct dualq *q,
					   const struct sk_buff *skb,
					   const struct packet_info *info, const bool in_l, u64 now)
{
	if (share_pace(&link_of(in)->share)->mult)
		share_turn_back(end_of(&link_of(in)->share, in_l),
				with_gap(in, info, work_of(in, skb, info)));
}

static __always_inline void link_wake(struct instance *in, const struct Qdisc *sch, u64 now)
{
}

/* ---- packets that leave ---------------------------------------------------------- */

/* A queue could not send in time, or the link began anew (`restarts`). `at`: how far its clock has
 * come.
 */
GLOBAL_SUBPROG int link_move(u32 number, u32 in_l, u64 at, u32 restarts)
{
	struct instance *in = instance_by_number(number);
	u64 others, own, waits, slack;
	struct share *share;

	if (!in)
		return 0;
	share = &link_of(in)->share;
	own = dualq_bytes(in, &in->dualq);
	others = share->held & SHARE_BYTES;
	others = share_work_of(others > own ? others - own : 0);
	if (in->link.is_framed) /* at most */
		others *= 2;
	waits = work_waiting(in, &in->dualq, in_l);
	if (in_l) { /* at most: a packet may have taken its gap or not */
		waits += share_gap(waits, in->l_share);
		others += share_gap(others, in->l_share);
	}
	if (restarts) /* nothing of what is ahead is its own */
		others = ~0ULL;
	/* What L has not used C has, if it waits. */
	slack = restarts || (in_l && share_c_waits(share)) ? 0 : share_pace(share)->slack;
	if (in_l)
		share_move(&share->l_end, &in->link.clock.l, at, slack, waits, others);
	else
		share_move(&share->c_end, &in->link.clock.c, at, slack, waits, others);
	return 0;
}

/* The link began anew. */
static __noinline int link_follow(struct instance *in, u64 now)
{
	struct share *share = &link_of(in)->share;
	const u64 work = share_work(share_pace(share), now);

	in->link.clock.epoch = share->epoch;
	if (fifo_waits(&in->dualq.l))
		link_move(in->number, true, share_at(share, true, work), true);
	if (fifo_waits(&in->dualq.c))
		link_move(in->number, false, share_at(share, false, work), true);
	return 0;
}

/* Work until the head of a queue is due; 0: it is. */
static __noinline u64 until_due(struct instance *in, bool in_l, u64 now)
{
	const struct fifo *fifo = in_l ? &in->dualq.l : &in->dualq.c;
	const struct share_queue *queue = queue_of(in, in_l);
	const struct share *share = &link_of(in)->share;
	const struct share_pace *pace = share_pace(share);
	u64 at, start;

	if (!pace->mult)
		return 0;
	at = share_at(share, in_l, share_work(pace, now));
	start = share_start(queue, fifo->head_slot.start, at);
	if (rarely(share_ahead(at, start) > pace->slack)) {
		link_move(in->number, in_l, at, false);
		start = queue->next;
	}
	if (!in_l)
		in->link.clock.c_start = start;
	return share_ahead(start, at);
}

/* The same, or ~0: there is none. Mostly it may go at once. */
static __always_inline u64 until_head(struct instance *in, const bool in_l, u64 now)
{
	const struct fifo *fifo = in_l ? &in->dualq.l : &in->dualq.c;

	if (!fifo_waits(fifo))
		return ~0ULL;
	/* Its time may have been taken on another CPU, a moment later than `now`. */
	if (share_at_once(queue_of(in, in_l), fifo->head_slot.start,
			  (s64)(now - fifo->head_ns) > 0 ? now - fifo->head_ns : 0))
		return 0;
	return until_due(in, in_l, now);
}

static __always_inline bool link_is_free(struct instance *in, u64 now)
{
	struct link_clock *clock = &in->link.clock;

	if (rarely(clock->epoch != link_of(in)->share.epoch))
		link_follow(in, now);
	clock->l_ahead = until_head(in, true, now);
	clock->c_ahead = until_head(in, false, now);
	return !clock->l_ahead || !clock->c_ahead;
}

static __always_inline u64 link_look(const struct instance *in, u64 now)
{
	const struct link_clock *clock = &in->link.clock;
	const u64 ahead = clock->l_ahead < clock->c_ahead ? clock->l_ahead : clock->c_ahead;
	const u64 wait_ns = share_ns(ahead, link_of(in)->share.rate);

	return now + (wait_ns < LINK_LOOK_NS ? wait_ns : LINK_LOOK_NS);
}

static __always_inline bool link_looks(struct instance *in, u64 now, u64 until_ns)
{
	const u64 looks_ns = in->link.clock.looks_ns;

	if (now + LINK_NEAR_NS < looks_ns && looks_ns <= until_ns + LINK_NEAR_NS)
		return true;
	in->link.clock.looks_ns = until_ns;
	return false;
}

static __always_inline bool link_lets(const struct instance *in, const struct dualq *q, bool in_l)
{
	return !(in_l ? in->link.clock.l_ahead : in->link.clock.c_ahead);
}

/* What a packet of L leaves to C if it took no gap. */
static __always_inline void leave_gap(const struct instance *in, struct share *share, u64 work)
{
	if (share_c_waits(share))
		ADD(share->l_gaps, share_gap(work, in->l_share));
}

static __always_inline void link_charge(struct instance *in, const struct sk_buff *skb,
					const struct packet_info *info, const bool from_l, u64 now)
{
	struct share_queue *queue = queue_of(in, from_l);
	struct share *share = &link_of(in)->share;
	const struct share_pace *pace = share_pace(share);
	u64 work;

	if (!from_l && !in->link.clock.c_start)
		return;
	work = work_of(in, skb, info);
	if (!from_l) {
		share_sends_c(share, in->link.clock.c_start, work);
		in->link.clock.c_start = 0;
	} else if (pace->mult) {
		if (!(info->flags & PACKET_SPACED))
			leave_gap(in, share, work);
		ADD(share->l_sent, work);
	}
	if (rarely(queue->left))
		share_leave(queue, with_gap(in, info, work));
}

static __always_inline void link_charge_lost(struct instance *in, const struct sk_buff *skb,
					     const struct packet_info *info, u64 now)
{
	struct share *share = &link_of(in)->share;
	const struct share_pace *pace = share_pace(share);

	if (in->link.charges_lost && pace->mult)
		share_lose(share, pace, share_work(pace, now), work_of(in, skb, info));
}

static __always_inline void link_restart(struct instance *in)
{
	struct share *share = &link_of(in)->share;

	share_restart(share, share_work(share_pace(share), bpf_ktime_get_ns()));
}

/* Its place stays empty, and is taken away with all others. */
static __always_inline void link_discarded(struct instance *in)
{
	link_restart(in);
}

static __always_inline void link_throw_away(struct instance *in, struct dualq *q,
					    const struct Qdisc *sch)
{
	struct share *share = &link_of(in)->share;

	if (!sch->q.qlen)
		return;
	ADD(share->held, -(sch->q.qlen * SHARE_PACKET + dualq_bytes(in, q)));
	ADD(share->memory,
	    -(in->memory_used + dualpi2_backlog_packets(counters_of(in, q, false)) * SHARE_PACKET));
	ADD(share->l_packets, -q->l_packets);
	link_restart(in);
}

/* As with a link of its own; but here the clock has what waits elsewhere, and the gaps for C. */
static __always_inline u64 l_forecast(const struct instance *in, const struct dualq *q, u64 now,
				      u64 enough_ns)
{
	const struct share *share = &link_of(in)->share;
	u64 age = queue_age(q, true, now), wait;

	if (!share->rate || age > enough_ns)
		return age;
	wait = l_wait_ns(share, now);
	return age > wait ? age : wait;
}

#endif /* LINK_SHARED_CLOCK_BPF_H */
