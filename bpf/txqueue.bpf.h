/* SPDX-License-Identifier: GPL-2.0-only */
/* Which qdisc of a device a packet will come to.
 *
 * At the root that is known. Behind an mq the kernel chooses the transmit queue, and
 * so the qdisc, only after our tcx program has run. It is predicted here as
 * net/core/dev.c, netdev_pick_tx() chooses: the queue that the socket has used
 * before, else what XPS says, else a hash. Where a driver chooses in its own way
 * (ndo_select_queue), or with traffic classes on the device, the guess may be wrong:
 * then the packet was marked by the state of a neighbour queue, and the qdisc counts it
 * (mispredicted).
 */
#ifndef TXQUEUE_BPF_H
#define TXQUEUE_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "verifier.bpf.h"

#define XPS_CPUS 0		/* enum xps_map_type, include/linux/netdevice.h */
#define NO_QUEUE_MAPPING 0xffff /* include/net/sock.h */

/* Map a hash to 0..n-1 (include/linux/kernel.h, reciprocal_scale()). */
static __always_inline u32 scale_hash(u32 hash, u32 n)
{
	return (u64)hash * n >> 32;
}

/* The queue that XPS has for this CPU (net/core/dev.c, __get_xps_queue_idx()); -1: none. */
static __always_inline s32 xps_queue(struct __sk_buff *ctx, const struct net_device *dev)
{
	const struct xps_dev_maps *maps = dev->xps_maps[XPS_CPUS];
	u32 cpu = bpf_get_smp_processor_id();
	const struct xps_map *map;
	u32 choice;

	if (!maps || maps->num_tc != 1 || cpu >= maps->nr_ids)
		return -1;
	map = *(struct xps_map *const *)readable(&maps->attr_map[cpu]);
	if (!map)
		return -1;
	map = bpf_core_cast(map, struct xps_map);
	if (!map->len)
		return -1;
	choice = map->len == 1 ? 0 : scale_hash(bpf_get_hash_recalc(ctx), map->len);
	return *(const u16 *)readable(&map->queues[choice]);
}

/* The transmit queue that netdev_pick_tx() will most likely choose. */
static __noinline u32 predict_txq(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const struct net_device *dev = untrusted(skb)->dev;
	const struct sock *sk = untrusted(skb)->sk;
	u32 queues = dev->real_num_tx_queues;
	s32 queue = NO_QUEUE_MAPPING;

	if (queues < 2)
		return 0;
	/* A bit-field: its place in the byte is another one in each kernel. */
	if (sk && !BPF_CORE_READ_BITFIELD(skb, ooo_okay))
		queue = sk->__sk_common.skc_tx_queue_mapping;
	if ((u32)queue < queues)
		return queue;
	queue = xps_queue(ctx, dev);
	if (queue >= 0 && (u32)queue < queues)
		return queue;
	if (ctx->queue_mapping) /* received on that queue, plus 1 */
		return (ctx->queue_mapping - 1) % queues;
	return scale_hash(bpf_get_hash_recalc(ctx), queues);
}

/* The instance that a packet on its way to `dev` will come to; NULL: none of ours. */
static __always_inline struct instance *instance_for(struct __sk_buff *ctx,
						     const struct net_device *dev)
{
	struct instance *in = usual_instance(ctx->ifindex);
	const struct netdev_queue *queue;

	if (in && in->root_of == (u64)dev)
		return in;
	in = instance_if_ours(dev->qdisc);
	if (in)
		return in;
	queue = bpf_rdonly_cast((void *)dev->_tx + (u64)predict_txq(ctx) *
							   bpf_core_type_size(struct netdev_queue),
				bpf_core_type_id_kernel(struct netdev_queue));
	return instance_if_ours(queue->qdisc);
}

#endif /* TXQUEUE_BPF_H */
