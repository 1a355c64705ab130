/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel sends the packets of an AccECN connection as ECT(0) (net/ipv4/tcp_output.c,
 * tcp_ecn_send()). Here they become ECT(1).
 */
#ifndef PRAGUE_ECT1_BPF_H
#define PRAGUE_ECT1_BPF_H

#include "kernel.bpf.h"
#include "ecn.bpf.h"
#include "prague/fallback.bpf.h"

/* The first bytes of an IPv4 header, which end with its checksum, or of an IPv6 header. */
#define HEADER_LEN 12
#define IPV4_PROTOCOL 9
#define IPV4_CHECKSUM 10
#define IPV6_NEXT_HEADER 6

/* Of a packet whose IP header is the socket's own: does TCP follow at once? Of a tunnel the outer
 * header stands here, and something else follows.
 */
static __always_inline bool carries_tcp(const u8 *header, bool is_v4)
{
	return header[is_v4 ? IPV4_PROTOCOL : IPV6_NEXT_HEADER] == IPPROTO_TCP;
}

/* ECT(0) to ECT(1): both bits change. In IPv4 the word with the TOS gets smaller by 1, so the
 * checksum gets greater by 1 (RFC 1624).
 */
static __always_inline void make_ect1(u8 *header, bool is_v4)
{
	u32 sum;

	if (!is_v4) {
		header[1] ^= 3 << 4;
		return;
	}
	header[1] ^= 3;
	sum = (header[IPV4_CHECKSUM] << 8 | header[IPV4_CHECKSUM + 1]) + 1;
	sum += sum >> 16;
	header[IPV4_CHECKSUM] = sum >> 8;
	header[IPV4_CHECKSUM + 1] = sum;
}

/* Is the packet ECT(1) or CE now? */
static __always_inline bool send_as_ect1(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u32 offset = network_offset(skb);
	const bool is_v4 = skb->protocol == bpf_htons(ETH_P_IP);
	u8 header[HEADER_LEN];
	s32 tos;

	if (bpf_skb_load_bytes(ctx, offset, header, sizeof(header)))
		return false;
	tos = tos_of(skb->protocol, header);
	if (tos == NO_TOS || !carries_tcp(header, is_v4) || !(tos & ECN_CE))
		return false;
	if ((tos & ECN_CE) != ECN_ECT_0)
		return true;
	make_ect1(header, is_v4);
	return !bpf_skb_store_bytes(ctx, offset, header, sizeof(header), BPF_F_RECOMPUTE_CSUM);
}

#endif /* PRAGUE_ECT1_BPF_H */
