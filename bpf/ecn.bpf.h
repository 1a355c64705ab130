/* SPDX-License-Identifier: GPL-2.0-only */
/* The ECN field of a packet (RFC 3168) and its DSCP: finding, reading and marking. */
#ifndef ECN_BPF_H
#define ECN_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "kernel.bpf.h"

enum ecn {
	ECN_NOT_ECT = 0,
	ECN_ECT_1 = 1,
	ECN_ECT_0 = 2,
	ECN_CE = 3,
};

#define IPV4_HEADER_MIN 20
#define IPV6_HEADER 40
#define VLAN_TAG_LEN 4
#define VLAN_TAGS_MAX 2
#define PPPOE_LEN 8 /* RFC 2516: 6 bytes, then the PPP protocol */

/* The IP header of a frame. */
struct ip_header {
	u32 offset; /* from skb->data, bytes */
	bool is_v4;
	s32 tos; /* TOS byte or Traffic Class; NO_TOS: there is no header that we understand */
};

#define NO_TOS (-1)

static __always_inline bool is_vlan(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

/* What the first two bytes of an IP header say, if it is one. */
static __always_inline s32 tos_of(__be16 protocol, const u8 *header)
{
	if (protocol == bpf_htons(ETH_P_IP) && header[0] >> 4 == 4)
		return header[1];
	if (protocol == bpf_htons(ETH_P_IPV6) && header[0] >> 4 == 6)
		return (header[0] << 4 | header[1] >> 4) & 255;
	return NO_TOS;
}

/* The EtherType that a PPP protocol number stands for (RFC 1332, RFC 5072); 0: not IP. */
static __always_inline __be16 ethertype_of_ppp(__be16 protocol)
{
	if (protocol == bpf_htons(PPP_IP))
		return bpf_htons(ETH_P_IP);
	return protocol == bpf_htons(PPP_IPV6) ? bpf_htons(ETH_P_IPV6) : 0;
}

/* Any frame: VLAN tags or PPPoE still in it, headers not in the linear part. What is
 * in the frame stands behind an Ethernet header; skb->network_header is of no use
 * then, senders disagree on whether it points at the tag or behind it. A tag that hardware or
 * the receive path took out of the frame is not counted. MPLS has no ECN
 * field that we could set, and of a tunnel the outer header counts (RFC 6040).
 */
static __noinline int ip_search(struct bpf_dynptr *frame, const struct sk_buff *skb,
				struct ip_header *ip)
{
	__be16 protocol = skb->protocol;
	u8 header[2], tags = 0;
	u32 header_len;

	*ip = (struct ip_header){ .offset = network_offset(skb), .tos = NO_TOS };
	if (is_vlan(protocol) || protocol == bpf_htons(ETH_P_PPP_SES)) {
		if (!has_link_header(device_of(skb)))
			return 0;
		ip->offset = ETH_HLEN;
	}
	for (; tags < VLAN_TAGS_MAX && is_vlan(protocol); tags++) {
		if (bpf_dynptr_read(&protocol, sizeof(protocol), frame, ip->offset + 2, 0))
			return 0;
		ip->offset += VLAN_TAG_LEN;
	}
	if (protocol == bpf_htons(ETH_P_PPP_SES)) {
		ip->offset += PPPOE_LEN;
		if (bpf_dynptr_read(&protocol, sizeof(protocol), frame, ip->offset - 2, 0))
			return 0;
		protocol = ethertype_of_ppp(protocol);
	}
	header_len = protocol == bpf_htons(ETH_P_IP) ? IPV4_HEADER_MIN : IPV6_HEADER;
	if (skb->len < ip->offset + header_len ||
	    bpf_dynptr_read(header, sizeof(header), frame, ip->offset, 0))
		return 0;
	ip->is_v4 = protocol == bpf_htons(ETH_P_IP);
	ip->tos = tos_of(protocol, header);
	return 0;
}

/* The TOS byte or Traffic Class of the usual packet, at the cost of a few loads: IP behind
 * skb->network_header, the header in the linear part. NO_TOS if it is not one.
 */
static __always_inline s32 tos_direct(struct __sk_buff *ctx, const struct sk_buff *skb)
{
	const u8 *data = (const u8 *)(long)ctx->data, *data_end = (const u8 *)(long)ctx->data_end;
	u32 offset = network_offset(skb);
	__be16 protocol = skb->protocol;
	const u8 *header;

	/* hard_header_len fits 8 bits on all devices; the verifier wants a bound */
	if (offset > 255)
		return NO_TOS;
	header = data + offset;
	if (protocol == bpf_htons(ETH_P_IP)) {
		if (header + IPV4_HEADER_MIN > data_end)
			return NO_TOS;
	} else if (protocol != bpf_htons(ETH_P_IPV6) || header + IPV6_HEADER > data_end) {
		return NO_TOS;
	}
	return tos_of(protocol, header);
}

/* The IP header of any packet. (Not inlined: the compiler would put something else where the
 * dynptr was, and the verifier minds.)
 */
static __noinline int ip_find(struct __sk_buff *ctx, struct ip_header *ip)
{
	struct bpf_dynptr frame;

	bpf_dynptr_from_skb(ctx, 0, &frame);
	return ip_search(&frame, bpf_cast_to_kern_ctx(ctx), ip);
}

/* Set CE anywhere in the frame, and in headers that are shared. The IPv4 checksum is
 * adjusted, not computed anew (RFC 1624, equation 3): a wrong one stays just as wrong.
 * Returns false if the kernel had no memory to unshare the header.
 */
static __noinline bool ecn_store_ce(struct __sk_buff *ctx)
{
	struct ip_header ip;
	u8 header[12]; /* up to the IPv4 checksum */
	u32 word, sum;

	ip_find(ctx, &ip);
	if (bpf_skb_load_bytes(ctx, ip.offset, header, sizeof(header)))
		return false;
	if (ip.is_v4) {
		word = header[0] << 8 | header[1];
		header[1] |= ECN_CE;
		sum = (u16) ~(header[10] << 8 | header[11]);
		sum += (u16)~word;
		sum += header[0] << 8 | header[1];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16));
		header[10] = sum >> 8;
		header[11] = sum;
	} else {
		header[1] |= ECN_CE << 4;
	}
	/* The flag keeps skb->csum (CHECKSUM_COMPLETE) right. */
	return !bpf_skb_store_bytes(ctx, ip.offset, header, sizeof(header), BPF_F_RECOMPUTE_CSUM);
}

/* Set CE. `is_direct`: tos_direct() has found the ECN field, so the kernel's own function does,
 * too (it adjusts the checksum as above); it gives up on a shared header.
 */
static __always_inline bool ecn_set_ce(struct __sk_buff *ctx, bool is_direct)
{
	return (is_direct && bpf_skb_ecn_set_ce(ctx)) || ecn_store_ce(ctx);
}

#endif /* ECN_BPF_H */
