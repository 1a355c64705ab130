/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel offers to a BPF qdisc and <bpf/bpf_helpers.h> does not declare. */
#ifndef KERNEL_BPF_H
#define KERNEL_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "verifier.bpf.h"

/* include/linux/netdevice.h, include/net/sch_generic.h, include/uapi/linux/if_ether.h,
 * include/uapi/linux/if_arp.h
 */
#define NET_XMIT_SUCCESS 0x00
#define NET_XMIT_DROP 0x01
#define __NET_XMIT_BYPASS 0x00020000
#define ETH_HLEN 14
#define ARPHRD_ETHER 1
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define ETH_P_8021Q 0x8100
#define ETH_P_8021AD 0x88A8
#define ETH_P_PPP_SES 0x8864

/* include/linux/netdevice.h: bits of net_device.state; include/linux/kernel.h */
#define __LINK_STATE_START 0
#define __LINK_STATE_NOCARRIER 2
#define NETDEV_HASHENTRIES 256
#define XMIT_RECURSION_LIMIT 8
#define GSO_MAX_SEGS 65535

/* include/net/dst.h, include/linux/skbuff.h: a destination that is a tunnel's metadata */
#define SKB_DST_PTRMASK (~1UL)
#define DST_METADATA 0x0080

/* include/linux/skbuff.h: skb_shared_info.gso_type. TCP_FIXEDID is one bit up to 6.17,
 * later two, for the outer and the inner header.
 */
#define SKB_GSO_TCPV4 (1U << 0)
#define SKB_GSO_DODGY (1U << 1)
#define SKB_GSO_TCP_ECN (1U << 2)
#define SKB_GSO_TCP_FIXEDID_ANY (1U << 3 | 3U << 30)
#define SKB_GSO_TCPV6 (1U << 4)
#define SKB_GSO_GRE (1U << 6)
#define SKB_GSO_GRE_CSUM (1U << 7)
#define SKB_GSO_IPXIP4 (1U << 8)
#define SKB_GSO_IPXIP6 (1U << 9)
#define SKB_GSO_UDP_TUNNEL (1U << 10)
#define SKB_GSO_UDP_TUNNEL_CSUM (1U << 11)
#define SKB_GSO_UDP_L4 (1U << 17)
#define SKB_GSO_FRAGLIST (1U << 18)
#define SKB_GSO_TCP_ACCECN (1U << 19)

/* RFC 9293, 3.1 */
#define TCP_HEADER_MIN 20

/* include/uapi/linux/ppp_defs.h */
#define PPP_IP 0x21
#define PPP_IPV6 0x57

/* include/uapi/linux/pkt_sched.h */
#define TC_H_ROOT 0xffffffffU
#define TC_H_MAJ(handle) ((handle) & 0xffff0000U)
#define TC_H_MIN(handle) ((handle) & 0x0000ffffU)

/* include/uapi/asm-generic/errno-base.h */
#define ENOENT 2
#define ENOMEM 12
#define ENOSPC 28

/* include/uapi/linux/time.h */
#define CLOCK_MONOTONIC 1

/* net/sched/bpf_qdisc.c */
extern void bpf_kfree_skb(struct sk_buff *skb) __ksym;
extern void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) __ksym;
extern void bpf_qdisc_bstats_update(struct Qdisc *sch, const struct sk_buff *skb) __ksym;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *sch, __u64 expire_ns, __u64 slack_ns) __ksym;

/* kernel/bpf/helpers.c. The `_impl` spellings load on every kernel from 6.17;
 * the verifier fills in the arguments that are NULL and 0 here.
 */
extern void *bpf_obj_new_impl(__u64 local_type_id, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *object, void *meta) __ksym;
extern int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node,
				   void *meta, __u64 offset) __ksym;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) __ksym;
extern struct bpf_list_node *bpf_list_front(struct bpf_list_head *head) __ksym;
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
extern int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *ptr) __ksym;
extern s64 bpf_map_sum_elem_count(const struct bpf_map *map) __ksym;
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

#define obj_new(type) ((type *)bpf_obj_new_impl(bpf_core_type_id_local(type), NULL))
#define obj_drop(object) bpf_obj_drop_impl(object, NULL)
#define list_push_back(head, node) bpf_list_push_back_impl(head, node, NULL, 0)

#ifndef container_of
#define container_of(ptr, type, member) ((type *)((void *)(ptr) - __builtin_offsetof(type, member)))
#endif

static __always_inline struct qdisc_skb_cb *qdisc_skb_cb(const struct sk_buff *skb)
{
	return (struct qdisc_skb_cb *)skb->cb;
}

/* Bytes of the packet as the qdisc layer counts them: those of all its segments
 * with their headers (net/core/dev.c, qdisc_pkt_len_init()).
 */
static __always_inline u32 qdisc_pkt_len(const struct sk_buff *skb)
{
	return qdisc_skb_cb(skb)->pkt_len;
}

/* Bytes between the start of the buffer, where headers are counted from, and the packet. */
static __always_inline u32 headroom_of(const struct sk_buff *skb)
{
	long headroom = skb->data - skb->head;

	barrier_var(headroom); /* pointers are subtracted in 64 bits or not at all */
	return headroom;
}

/* Where the packet says that its network header starts, from skb->data. */
static __always_inline u32 network_offset(const struct sk_buff *skb)
{
	return skb->network_header - headroom_of(skb);
}

static __always_inline const struct skb_shared_info *shared_info(const struct sk_buff *skb)
{
	return bpf_rdonly_cast(skb->head + skb->end,
			       bpf_core_type_id_kernel(struct skb_shared_info));
}

/* The segments of a GSO packet whose sender left it to us to count them (SKB_GSO_DODGY: a
 * virtual machine), as net/core/dev.c, qdisc_pkt_len_init() does it, but for a header
 * of 20 bytes without a look at it: a last segment of a few bytes may be missed. At most what
 * the kernel's own count can say (GSO_MAX_SEGS).
 */
static __noinline u16 count_segments(const struct sk_buff *skb, u16 gso_size)
{
	u32 headers = skb->transport_header - headroom_of(skb) + TCP_HEADER_MIN, segments;

	if (skb->len <= headers)
		return 1;
	segments = (skb->len - headers + gso_size - 1) / gso_size;
	return segments < GSO_MAX_SEGS ? segments : GSO_MAX_SEGS;
}

/* Packets on the wire that this skb becomes, as bstats_update() counts them. */
static __always_inline u16 wire_packets(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = shared_info(skb);

	if (!info->gso_size)
		return 1;
	return info->gso_segs ?: count_segments(skb, info->gso_size);
}

/* Memory of the kernel, read by its address. As with bpf_core_cast(), but without a type, a load
 * that faults gives 0; unlike bpf_probe_read_kernel() it is allowed in a kernel that is locked
 * down.
 */
static __always_inline const void *readable(const void *address)
{
	return bpf_rdonly_cast(address, 0);
}

/* Does the device have frames of Ethernet? If not, a packet begins with its IP header. */
static __always_inline bool has_link_header(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER;
}

static __always_inline const struct net_device *device_of(const struct sk_buff *skb)
{
	return untrusted(skb)->dev;
}

static __always_inline const struct net_device *device_below(const struct Qdisc *sch)
{
	return untrusted(sch)->dev_queue->dev;
}

/* The cookie of a device's network namespace. */
static __always_inline u64 netns_of(const struct net_device *dev)
{
	return dev->nd_net.net->net_cookie;
}

/* Can a device still be found by its number? Not if it is being deleted, or goes to another
 * network namespace: then the kernel has taken it out of the table (net/core/dev.c,
 * unlist_netdevice(); hlist_del_rcu() leaves a pointer that faults).
 */
static __always_inline bool is_listed(const struct net_device *dev)
{
	const struct hlist_node *node = &dev->index_hlist;

	return *(void *const *)readable(node->pprev) == node;
}

/* Length of a full frame, bytes (include/net/pkt_sched.h, psched_mtu()). */
static __always_inline u32 frame_len(const struct net_device *dev)
{
	return dev->mtu + dev->hard_header_len;
}

#endif /* KERNEL_BPF_H */
