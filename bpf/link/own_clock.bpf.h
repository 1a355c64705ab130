/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LINK_OWN_CLOCK_BPF_H
#define LINK_OWN_CLOCK_BPF_H

#include "vmlinux.h"

#include "dualpi2.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "shaper.h"
#include "turns.bpf.h"

/* ---- whose the AQM is ------------------------------------------------------------ */

static __always_inline struct aqm *aqm_of(struct dualq *q)
{
	return &q->aqm;
}

static __always_inline struct coupled *coupled_of(struct dualq *q)
{
	return &q->coupled;
}

static __always_inline struct dualpi2_overload *overload_of(struct dualq *q)
{
	return &q->overload;
}

static __always_inline u64 *updates_of(struct dualq *q)
{
	return &q->updates;
}

static __always_inline u32 l_packets(const struct dualq *q)
{
	return q->l_packets;
}

static __always_inline u64 backlog_bytes(const struct instance *in, const struct dualq *q)
{
	return dualq_bytes(in, q);
}

static __always_inline u64 oldest_age(const struct dualq *q, bool in_l, u64 now)
{
	return queue_age(q, in_l, now);
}

/* ---- life cycle ------------------------------------------------------------------ */

static __always_inline bool link_join(struct instance *in, const struct net_device *dev, u64 now)
{
	return true;
}

static __always_inline void link_leave(struct instance *in)
{
}

static __always_inline void link_set_rate(struct instance *in, u64 former, u64 now)
{
	if (in->params.rate != former)
		shaper_restart(&in->link.clock.shaper, now);
}

static __always_inline void link_start_empty(struct instance *in)
{
	in->link.clock.shaper = (struct shaper){};
}

static __always_inline bool link_forgets(const struct instance *in)
{
	return true;
}

static __always_inline bool link_updates(struct instance *in, u64 now, u64 most, u64 *periods)
{
	return true;
}

/* ---- what waits ------------------------------------------------------------------ */

static __always_inline void link_hold(struct instance *in, const struct packet_info *info,
				      bool in_l)
{
}

static __always_inline void link_release(struct instance *in, const struct packet_info *info,
					 bool in_l)
{
}

static __always_inline u64 held_packets(const struct instance *in, const struct Qdisc *sch)
{
	return sch->q.qlen;
}

static __always_inline u64 held_memory(const struct instance *in)
{
	return in->memory_used;
}

/* ---- packets --------------------------------------------------------------------- */

static __always_inline bool link_drops_early(const struct instance *in)
{
	return in->params.drop_enqueue;
}

static __always_inline struct slot link_enter(struct instance *in, struct dualq *q,
					      const struct sk_buff *skb, struct packet_info *info,
					      bool in_l, u64 now)
{
	return (struct slot){};
}

static __always_inline void link_turn_back(struct instance *in, struct dualq *q,
					   const struct sk_buff *skb,
					   const struct packet_info *info, bool in_l, u64 now)
{
}

static __always_inline void link_wake(struct instance *in, const struct Qdisc *sch, u64 now)
{
	if (in->link.rate && !sch->q.qlen)
		shaper_wake(&in->link.clock.shaper, now);
}

static __always_inline bool link_is_free(struct instance *in, u64 now)
{
	return shaper_ready(&in->link.clock.shaper, in->link.rate, now);
}

static __always_inline u64 link_look(const struct instance *in, u64 now)
{
	return shaper_look(&in->link.clock.shaper, now);
}

static __always_inline bool link_looks(struct instance *in, u64 now, u64 until_ns)
{
	return false;
}

static __always_inline bool link_lets(const struct instance *in, const struct dualq *q, bool in_l)
{
	return fifo_waits(in_l ? &q->l : &q->c);
}

static __always_inline void link_charge(struct instance *in, const struct sk_buff *skb,
					const struct packet_info *info, bool from_l, u64 now)
{
	struct link *link = &in->link;

	if (link->rate)
		shaper_charge(&link->clock.shaper, link->rate, now, len_on_link(in, skb, info));
}

static __always_inline void link_charge_lost(struct instance *in, const struct sk_buff *skb,
					     const struct packet_info *info, u64 now)
{
	struct link *link = &in->link;

	if (link->charges_lost)
		shaper_charge_lost(&link->clock.shaper, link->rate, now,
				   len_on_link(in, skb, info));
}

static __always_inline void link_discarded(struct instance *in)
{
}

static __always_inline void link_throw_away(struct instance *in, struct dualq *q,
					    const struct Qdisc *sch)
{
}

/* How long an L packet that arrives now will wait (aqm.bpf.h): two lower bounds of it. The head of
 * the queue has waited so long already; and behind our own shaper it is known when the link is free
 * and how long the bytes ahead take. Where the first decides, the second is not computed. (A DualQ
 * may have a plan of its own, which is another one.)
 */
static __always_inline u64 l_forecast(const struct instance *in, const struct dualq *q, u64 now,
				      u64 enough_ns)
{
	u64 age = queue_age(q, true, now), rate = in->link.rate, wait;

	if (age <= enough_ns) {
		wait = schedule_forecast(in, q, now);
		age = age > wait ? age : wait;
	}
	if (!rate || age > enough_ns)
		return age;
	wait = l_wait(in, q, &in->link.clock.shaper, rate, now, schedule_ahead(in, q));
	return age > wait ? age : wait;
}

#endif /* LINK_OWN_CLOCK_BPF_H */
