/* SPDX-License-Identifier: GPL-2.0-only */
/* tcx ingress: what arrives at an interface takes a way round through an ifb, whose
 * egress has the qdisc. The ifb then hands each packet back to the interface that it
 * came from, past this hook (drivers/net/ifb.c: skb->tc_skip_classify), so it cannot
 * loop.
 *
 * What IPsec has decrypted arrives once more at the device that its ESP packet came to
 * (net/xfrm/xfrm_input.c), and has been shaped as that packet.
 *
 * An ifb is an Ethernet's, and the kernel redirects no packet to one without a link header
 * (net/core/filter.c, __bpf_redirect_common()). So a packet of a device that has none (ppp, tun,
 * wireguard, ipip) gets one of zeros, which the ifb takes off again.
 */
#ifndef INGRESS_BPF_H
#define INGRESS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "sec_path.bpf.h"

/* Do packets for this ifb reach our qdisc now? Not if somebody has deleted the device or the qdisc,
 * or set the device down: then its queue leads to the kernel's noop_qdisc, which throws packets
 * away, or to another qdisc; or another device has its number now, and maybe a qdisc of ours. Of
 * several queues the first one tells.
 */
static __always_inline bool is_in_service(const struct dualpi2_key *key,
					  const struct dualpi2_device *ifb)
{
	const struct instance *in = instance_at(key);
	const struct netdev_queue *queue;
	const struct Qdisc *qdisc;

	if (!in || !in->qdisc)
		return false;
	qdisc = bpf_rdonly_cast((void *)in->qdisc, bpf_core_type_id_kernel(struct Qdisc));
	queue = qdisc->dev_queue;
	return queue->qdisc == qdisc && is_made_by_us(queue->dev, ifb);
}

/* The ifb that has the qdisc for what arrives at an interface; 0: none that is in service. */
static __always_inline u32 ifb_for(const struct net_device *dev)
{
	struct dualpi2_key key = {
		.netns = netns_of(dev),
		.ifindex = dev->ifindex,
		.parent = DUALPI2_IFB,
	};
	const struct dualpi2_device *ifb = bpf_map_lookup_elem(&dualpi2_devices, &key);

	if (!ifb)
		return 0;
	key.ifindex = ifb->ifindex;
	key.parent = ifb->parent;
	return is_in_service(&key, ifb) ? key.ifindex : 0;
}

/* May it take the way round? Then it has a link header now. */
static __always_inline bool enters_ifb(struct __sk_buff *ctx, const struct sk_buff *skb,
				       const struct net_device *dev)
{
	return !has_security_path(skb) &&
	       (has_link_header(dev) || !bpf_skb_change_head(ctx, ETH_HLEN, 0));
}

#endif /* INGRESS_BPF_H */
