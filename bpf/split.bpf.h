/* SPDX-License-Identifier: GPL-2.0-only */
/* GSO packets are split before they queue, so that each segment waits, is marked and is
 * shaped by itself.
 *
 * No kfunc segments. But the kernel does, in front of a device that takes no GSO packets
 * (net/core/dev.c, validate_xmit_skb()). So a GSO packet takes a way round:
 *
 *	tcx egress of eth0	dualpi2_mark: to gso-eth0
 *	gso-eth0 (netkit)	the kernel makes segments; then, for each,
 *				dualpi2_segment: back to eth0
 *	tcx egress of eth0	dualpi2_mark: all goes on as usual
 *
 * Programs of others between the beginning of that hook and dualpi2_mark would see both, so
 * where there are some dualpi2_split stands before them, and does the first of it.
 *
 * All of it happens at once, on one CPU, before the sender's call returns: nothing is ever
 * held in between, so nothing is overtaken or left behind.
 *
 * It cannot loop, because it starts only where the kernel is sure to segment: `splits()`
 * looks at the same figures of the helper device as the kernel will. A segment is too
 * small for them; and if somebody has changed the device in between, so that a GSO packet
 * came back whole, the second look sees that, too.
 *
 * A packet stays whole that is too short to be worth it (split_gso.h), that would lose on
 * the way what it cannot do without (is_splittable()), or that has come through too many devices
 * already (has_levels()).
 */
#ifndef SPLIT_BPF_H
#define SPLIT_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "ecn.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "sec_path.bpf.h"

/* Devices in one bucket of the kernel's table that are looked through: more than a host can have,
 * because those that came last are met first.
 */
#define DEVICES_IN_BUCKET (1U << 16)

/* What the kernel segments with nothing but its own code, whatever is loaded. Not SCTP
 * and ESP, which need their modules, nor types of old tunnels and FCoE.
 */
#define SPLITTABLE                                                                               \
	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_TCP_ECN | SKB_GSO_TCP_ACCECN |                  \
	 SKB_GSO_TCP_FIXEDID_ANY | SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST | SKB_GSO_DODGY |           \
	 SKB_GSO_GRE | SKB_GSO_GRE_CSUM | SKB_GSO_IPXIP4 | SKB_GSO_IPXIP6 | SKB_GSO_UDP_TUNNEL | \
	 SKB_GSO_UDP_TUNNEL_CSUM)

/* What a segment brings back in __sk_buff.cb, which the kernel copies from the GSO packet. */
struct note {
	u32 check; /* SEGMENT_CHECK */
	u32 ifindex;
	u32 queue_mapping; /* the receive queue plus 1, or 0; gso-eth0 overwrites it */
};

#define SEGMENT_CHECK 0x47534f21 /* "GSO!" */

_Static_assert(sizeof(struct note) <= sizeof(((struct __sk_buff *)0)->cb), "fits");

/* A device by its number, found as dev_get_by_index_rcu() finds it: that is what
 * bpf_redirect() will do.
 */
static __always_inline const struct net_device *device_by_index(const struct net *net, u32 ifindex)
{
	const u32 id = bpf_core_type_id_kernel(struct net_device);
	/* A struct hlist_head, but libbpf takes 6 ms for each type that it looks up. */
	void *const *bucket = bpf_rdonly_cast(
		(void *)net->dev_index_head + (ifindex & (NETDEV_HASHENTRIES - 1)) * sizeof(void *),
		0);
	const void *node = *bucket;
	const struct net_device *dev;
	u32 i;

	bpf_for(i, 0, DEVICES_IN_BUCKET) {
		if (!node)
			break;
		dev = bpf_rdonly_cast(
			(void *)node - bpf_core_field_offset(struct net_device, index_hlist), id);
		if ((u32)dev->ifindex == ifindex)
			return dev;
		node = dev->index_hlist.next;
	}
	return NULL;
}

/* Is a device up, without a queue, and connected (for a netkit device: to a peer that is
 * up)? If not, it throws packets away.
 */
static __always_inline bool passes_packets(const struct net_device *dev)
{
	const u64 bits = 1 << __LINK_STATE_START | 1 << __LINK_STATE_NOCARRIER;

	return (dev->state & bits) == 1 << __LINK_STATE_START && !dev->_tx->qdisc->enqueue;
}

/* Will the kernel segment this packet in front of the device? (net/core/dev.c,
 * gso_features_check())
 */
static __always_inline bool splits(const struct net_device *dev, const struct __sk_buff *ctx)
{
	return ctx->gso_segs > dev->gso_max_segs ||
	       (ctx->len >= dev->gso_max_size && ctx->len >= dev->gso_ipv4_max_size);
}

/* Levels of XMIT_RECURSION_LIMIT that the way round has taken when it is checked last, by the
 * redirect back (net/core/filter.c, __bpf_tx_skb()): the first redirect, the helper device.
 */
#define LEVELS_OF_DETOUR 2

extern const struct softnet_data softnet_data __ksym;

/* The kernel counts how deep devices without a queue send through each other, and throws away what
 * exceeds a limit. Is there room for the way round, and then for the devices below ours? A
 * PREEMPT_RT kernel counts elsewhere; there it has to do what is stacked on ours.
 */
static __always_inline bool has_levels(const struct net_device *dev)
{
	const struct softnet_data *cpu = bpf_this_cpu_ptr(&softnet_data);
	u32 above = dev->upper_level - 1, below = dev->lower_level - 1;

	if (bpf_core_field_exists(cpu->xmit))
		above = cpu->xmit.recursion;
	return above + LEVELS_OF_DETOUR + below <= XMIT_RECURSION_LIMIT;
}

/* Is it for the device or a lower one to encrypt it (IPsec packet offload, PSP, TLS)? The helper
 * device takes away what tells so, and the packet would leave in the clear, or not at all
 * (skb_scrub_packet(), psp_validate_xmit()).
 */
static __always_inline bool awaits_encryption(const struct sk_buff *skb)
{
	if (bpf_core_field_exists(skb->decrypted) && BPF_CORE_READ_BITFIELD(skb, decrypted))
		return true;
	return has_security_path(skb);
}

/* Does a packet carry directions for a tunnel device, of a program or of its route? They
 * would be lost on the way (include/net/dst_metadata.h, skb_tunnel_info()).
 */
static __always_inline bool has_tunnel_info(const struct sk_buff *skb)
{
	const struct dst_entry *dst = bpf_rdonly_cast((void *)(skb->_skb_refdst & SKB_DST_PTRMASK),
						      bpf_core_type_id_kernel(struct dst_entry));

	return dst->flags & DST_METADATA || dst->lwtstate;
}

static __always_inline bool is_splittable(struct __sk_buff *ctx, const struct sk_buff *skb)
{
	u32 link_header = network_offset(skb);
	struct ip_header ip;

	if (shared_info(skb)->gso_type & ~SPLITTABLE || has_tunnel_info(skb) ||
	    awaits_encryption(skb))
		return false;
	ip_find(ctx, &ip);
	return ip.tos != NO_TOS &&
	       (has_link_header(device_of(skb)) ? link_header >= ETH_HLEN : !link_header);
}

/* Send a GSO packet on its way round; TCX_NEXT: it stays whole. */
static __noinline int split(struct __sk_buff *ctx, struct instance *in)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	struct note *note = (struct note *)ctx->cb;
	const struct net_device *dev = device_of(skb);
	const struct net *net = dev->nd_net.net;
	struct dualpi2_key key = {
		.netns = netns_of(dev),
		.ifindex = dev->ifindex,
		.parent = DUALPI2_SPLITTER,
	};
	const struct dualpi2_device *made;
	const struct net_device *splitter;

	if (qdisc_pkt_len(skb) <= in->params.split_above || !is_splittable(ctx, skb) ||
	    !has_levels(dev))
		return TCX_NEXT;
	made = bpf_map_lookup_elem(&dualpi2_devices, &key);
	if (!made)
		return TCX_NEXT;
	splitter = device_by_index(net, made->ifindex);
	if (!splitter || !is_made_by_us(splitter, made) || !passes_packets(splitter) ||
	    !splits(splitter, ctx))
		return TCX_NEXT;
	/* A netkit device is an Ethernet's; on the way back the kernel takes it off again. */
	if (!has_link_header(dev) && bpf_skb_change_head(ctx, ETH_HLEN, 0))
		return TCX_NEXT;

	__sync_fetch_and_add(&in->gso_split, 1);
	note->check = SEGMENT_CHECK;
	note->ifindex = key.ifindex;
	note->queue_mapping = ctx->queue_mapping;
	return bpf_redirect(made->ifindex, 0);
}

/* Send a segment back to the interface that its GSO packet was for. Nothing else has any business
 * on this device.
 */
static __always_inline int send_back(struct __sk_buff *ctx)
{
	const struct note *note = (const struct note *)ctx->cb;

	if (note->check != SEGMENT_CHECK)
		return NETKIT_DROP;
	ctx->queue_mapping = note->queue_mapping;
	return bpf_redirect(note->ifindex, 0);
}

#endif /* SPLIT_BPF_H */
