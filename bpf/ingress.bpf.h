/* SPDX-License-Identifier: GPL-2.0-only */
/* tcx ingress: what arrives at an interface takes a way round through an ifb, whose
 * egress has the qdisc. The ifb then hands each packet back to the interface that it
 * came from, past this hook (drivers/net/ifb.c: skb->tc_skip_classify), so it cannot
 * loop.
 */
#ifndef INGRESS_BPF_H
#define INGRESS_BPF_H

/* Do packets for this ifb reach our qdisc at its root now? Not if somebody has deleted the device
 * or the qdisc, or set the device down: then its queue leads to the kernel's noop_qdisc, which
 * throws packets away, or to another qdisc; or another device has its number now, and maybe a
 * qdisc of ours.
 */
static __always_inline bool is_in_service(const struct dualpi2_key *key,
					  const struct dualpi2_helper *ifb)
{
	const struct slot *slot = slot_at(key);
	const struct netdev_queue *queue;
	const struct Qdisc *qdisc;

	if (!slot || !slot->qdisc)
		return false;
	qdisc = bpf_rdonly_cast((void *)slot->qdisc, bpf_core_type_id_kernel(struct Qdisc));
	queue = qdisc->dev_queue;
	return queue->qdisc == qdisc && is_helper(queue->dev, ifb);
}

SEC("tcx/ingress")
int dualpi2_ingress(struct __sk_buff *ctx)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const struct net_device *dev = device_of(skb);
	struct dualpi2_key key = {
		.netns = netns_of(dev),
		.ifindex = dev->ifindex,
		.parent = DUALPI2_IFB,
	};
	const struct dualpi2_helper *ifb = bpf_map_lookup_elem(&dualpi2_helpers, &key);

	if (!ifb)
		return TCX_NEXT;
	key.ifindex = ifb->ifindex;
	key.parent = TC_H_ROOT;
	return is_in_service(&key, ifb) ? bpf_redirect(key.ifindex, 0) : TCX_NEXT;
}

#endif /* INGRESS_BPF_H */
