/* SPDX-License-Identifier: GPL-2.0-only */
/* The frames of a link: how many bytes a packet takes, and what it is by parameters and device. */
#ifndef FRAMES_BPF_H
#define FRAMES_BPF_H

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

/* How long a packet that comes to L waits behind a clock of this rate, of which C has its share,
 * and so many bytes, ns.
 */
static __always_inline u64 l_wait(const struct instance *in, const struct dualq *q,
				  const struct shaper *shaper, u64 rate, u64 now, u64 bytes)
{
	if (fifo_waits(&q->c)) /* it is served in between */
		rate = rate * in->l_share / 100;
	return shaper_wait(shaper, rate, now,
			   shaper_wire_len(&in->params, bytes, q->l_packets, in->link.link_header));
}

#endif /* FRAMES_BPF_H */
