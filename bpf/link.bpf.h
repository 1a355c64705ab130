/* SPDX-License-Identifier: GPL-2.0-only */
/* The link behind the queues: its frames, the shaper, and when a packet will leave. */
#ifndef LINK_BPF_H
#define LINK_BPF_H

#include "vmlinux.h"

#include "dualpi2.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "scheduler.h"
#include "shaper.h"
#include "verifier.bpf.h"

static __always_inline u64 link_rate(const struct instance *in)
{
	return in->link.rate;
}

/* What the device decides: at each update, as an MTU may change at any time. */
static __always_inline void link_measure(struct instance *in)
{
	const struct net_device *dev = device_below((const struct Qdisc *)in->qdisc);

	in->link.frame_len = frame_len(dev);
	in->link.link_header = dev->hard_header_len;
	in->initial_credit = scheduler_reset(in->params.classic_protection, in->link.frame_len);
}

static __always_inline void link_params(struct instance *in)
{
	in->link.rate = in->params.rate;
	in->link.charges_lost = in->params.charges_lost;
	in->link.is_framed = in->params.framing != DUALPI2_FRAMING_RAW || in->params.mpu;
}

/* Bytes on the link where they are not those of the qdisc layer. */
GLOBAL_SUBPROG u32 framed_len(u32 number, u32 len, u32 packets, u32 link_header)
{
	struct instance *in = instance_by_number(number);

	return in ? shaper_wire_len(&in->params, len, packets, link_header) : len;
}

static __always_inline u32 wire_len(const struct instance *in, u32 len, u32 packets)
{
	return in->link.is_framed ? framed_len(in->number, len, packets, in->link.link_header)
				  : len;
}

static __always_inline u32 len_on_link(const struct instance *in, const struct sk_buff *skb,
				       const struct packet_info *info)
{
	return in->link.is_framed
		       ? framed_len(in->number, info->len, info->packets, network_offset(skb))
		       : info->len;
}

/* The link is busy with a packet. */
static __always_inline void link_charge(struct instance *in, const struct sk_buff *skb,
					const struct packet_info *info, u64 now)
{
	struct link *link = &in->link;

	if (link->rate)
		shaper_charge(&link->shaper, link->rate, now, len_on_link(in, skb, info));
}

/* It was, with one that is dropped now, if that came through it. */
static __always_inline void link_charge_lost(struct instance *in, const struct sk_buff *skb,
					     const struct packet_info *info, u64 now)
{
	struct link *link = &in->link;

	if (link->charges_lost)
		shaper_charge_lost(&link->shaper, link->rate, now, len_on_link(in, skb, info));
}

/* How long an L packet that arrives now will wait (aqm.bpf.h): two lower bounds of it. The head of
 * the queue has waited so long already; and behind our own shaper it is known when the link is free
 * and how long the bytes ahead take. Where the first decides, the second is not computed.
 */
static __always_inline u64 l_forecast(const struct instance *in, const struct dualq *q, u64 now,
				      u64 enough_ns)
{
	u64 age = queue_age(q, true, now), rate = link_rate(in), ahead, wait;

	if (!rate || age > enough_ns)
		return age;
	if (fifo_waits(&q->c)) /* it is served in between */
		rate = rate * in->l_share / 100;
	ahead = shaper_wire_len(&in->params, queue_bytes(q, true), q->l_packets,
				in->link.link_header);
	wait = shaper_wait(&in->link.shaper, rate, now, ahead);
	return age > wait ? age : wait;
}

#endif /* LINK_BPF_H */
