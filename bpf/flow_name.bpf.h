/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flow is called (flow_name.h): the headers of a packet, one after the other. */
#ifndef FLOW_NAME_BPF_H
#define FLOW_NAME_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ecn.bpf.h"
#include "flow_name.h"
#include "kernel.bpf.h"

/* include/uapi/linux/in.h, in6.h */
#define IPPROTO_HOPOPTS 0
#define IPPROTO_IPIP 4
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_DCCP 33
#define IPPROTO_IPV6 41
#define IPPROTO_ROUTING 43
#define IPPROTO_FRAGMENT 44
#define IPPROTO_GRE 47
#define IPPROTO_ESP 50
#define IPPROTO_AH 51
#define IPPROTO_DSTOPTS 60
#define IPPROTO_SCTP 132
#define IPPROTO_UDPLITE 136

#define ETH_P_TEB 0x6558 /* include/uapi/linux/if_ether.h: an Ethernet frame in GRE */

/* Headers that the kernel looks at (MAX_FLOW_DISSECT_HDRS of net/core/flow_dissector.c). */
#define NAME_HEADERS_MAX 15

/* What comes next: a protocol of IP, or one of Ethernet with NEXT_ETHER; NEXT_NONE: the end. */
#define NEXT_ETHER 0x10000
#define NEXT_NONE 0x20000

struct next_header {
	u32 offset; /* from skb->data, bytes */
	u32 what;
};

static __always_inline u32 big_endian_32(const u8 *bytes)
{
	return bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static __always_inline u16 big_endian_16(const u8 *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

/* A header of IP: of what was known only how many there were stays. */
static __always_inline void name_ip(struct flow_name *name, u8 version, u8 protocol)
{
	u8 tunnels = name->version ? name->tunnels + 1 : 0;

	*name = (struct flow_name){
		.version = version,
		.protocol = protocol,
		.tunnels = tunnels,
	};
}

static __noinline u32 name_ipv4(struct __sk_buff *ctx, struct flow_name *name,
				struct next_header *next)
{
	u8 header[IPV4_HEADER_MIN];
	u32 words;

	if (bpf_skb_load_bytes(ctx, next->offset, header, sizeof(header)))
		return NEXT_NONE;
	words = header[0] & 15;
	if (header[0] >> 4 != 4 || words < IPV4_HEADER_MIN / 4)
		return NEXT_NONE;
	name_ip(name, 4, header[9]);
	__builtin_memcpy(name->source, header + 12, 4);
	__builtin_memcpy(name->target, header + 16, 4);
	next->offset += 4 * words;
	if (header[6] & 0x3f || header[7]) { /* more fragments, or not the first one */
		name->has = FLOW_NAME_FRAGMENT;
		return NEXT_NONE;
	}
	return header[9];
}

static __always_inline bool is_tunnel(u32 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE;
}

static __noinline u32 name_ipv6(struct __sk_buff *ctx, struct flow_name *name,
				struct next_header *next)
{
	u8 header[IPV6_HEADER];

	if (bpf_skb_load_bytes(ctx, next->offset, header, sizeof(header)) || header[0] >> 4 != 6)
		return NEXT_NONE;
	name_ip(name, 6, header[6]);
	__builtin_memcpy(name->source, header + 8, 16);
	__builtin_memcpy(name->target, header + 24, 16);
	name->label = big_endian_32(header) & 0xfffff;
	next->offset += IPV6_HEADER;
	/* All that is in a tunnel with a label is one flow to the hash. */
	return name->label && is_tunnel(header[6]) ? NEXT_NONE : header[6];
}

/* Options of IPv6 (RFC 8200, 4), and the fragment header. */
static __noinline u32 name_options(struct __sk_buff *ctx, struct flow_name *name,
				   struct next_header *next)
{
	u8 header[2];

	if (bpf_skb_load_bytes(ctx, next->offset, header, sizeof(header)))
		return NEXT_NONE;
	name->protocol = header[0];
	if (next->what == IPPROTO_FRAGMENT) {
		name->has = FLOW_NAME_FRAGMENT;
		return NEXT_NONE;
	}
	next->offset += 8 + 8 * header[1];
	return name->label && is_tunnel(header[0]) ? NEXT_NONE : header[0];
}

/* GRE (RFC 2784, RFC 2890), but not that of PPTP. */
static __noinline u32 name_gre(struct __sk_buff *ctx, struct next_header *next)
{
	u8 header[4], ethertype[2];

	if (bpf_skb_load_bytes(ctx, next->offset, header, sizeof(header)))
		return NEXT_NONE;
	if (header[0] & 0x40 || header[1] & 7) /* source routes, or another version */
		return NEXT_NONE;
	next->offset += 4;
	next->offset += header[0] & 0x80 ? 4 : 0; /* checksum */
	next->offset += header[0] & 0x20 ? 4 : 0; /* key */
	next->offset += header[0] & 0x10 ? 4 : 0; /* sequence number */
	if (big_endian_16(header + 2) != ETH_P_TEB)
		return NEXT_ETHER | big_endian_16(header + 2);
	next->offset += ETH_HLEN;
	if (bpf_skb_load_bytes(ctx, next->offset - 2, ethertype, sizeof(ethertype)))
		return NEXT_NONE;
	return NEXT_ETHER | big_endian_16(ethertype);
}

static __noinline u32 name_vlan(struct __sk_buff *ctx, struct next_header *next)
{
	u8 tag[VLAN_TAG_LEN];

	if (bpf_skb_load_bytes(ctx, next->offset, tag, sizeof(tag)))
		return NEXT_NONE;
	next->offset += VLAN_TAG_LEN;
	return NEXT_ETHER | big_endian_16(tag + 2);
}

/* The ports, or the SPI. */
static __noinline u32 name_end(struct __sk_buff *ctx, struct flow_name *name,
			       const struct next_header *next)
{
	u32 offset = next->offset;
	u8 bytes[4];

	switch (next->what) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_DCCP:
	case IPPROTO_SCTP:
		if (bpf_skb_load_bytes(ctx, offset, bytes, sizeof(bytes)))
			break;
		name->source_port = big_endian_16(bytes);
		name->target_port = big_endian_16(bytes + 2);
		name->has = FLOW_NAME_PORTS;
		break;
	case IPPROTO_AH:
		offset += 4;
		/* fall through */
	case IPPROTO_ESP:
		if (bpf_skb_load_bytes(ctx, offset, bytes, sizeof(bytes)))
			break;
		name->spi = big_endian_32(bytes);
		name->has = FLOW_NAME_SPI;
		break;
	}
	return NEXT_NONE;
}

static __always_inline u32 name_header(struct __sk_buff *ctx, struct flow_name *name,
				       struct next_header *next)
{
	switch (next->what) {
	case NEXT_ETHER | ETH_P_IP:
	case IPPROTO_IPIP:
		return name_ipv4(ctx, name, next);
	case NEXT_ETHER | ETH_P_IPV6:
	case IPPROTO_IPV6:
		return name_ipv6(ctx, name, next);
	case NEXT_ETHER | ETH_P_8021Q:
	case NEXT_ETHER | ETH_P_8021AD:
		return name_vlan(ctx, next);
	case IPPROTO_GRE:
		return name_gre(ctx, next);
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
	case IPPROTO_DSTOPTS:
		/* IPv4 has none; there the number is no more than a protocol. */
		if (name->version == 6)
			return name_options(ctx, name, next);
	}
	return name_end(ctx, name, next);
}

/* The name by this packet. What cannot be seen stays 0. */
static __noinline int flow_name(struct __sk_buff *ctx, struct flow_name *name)
{
	struct next_header next;
	struct ip_header ip;
	u32 i;

	*name = (struct flow_name){};
	ip_find(ctx, &ip);
	if (ip.tos == NO_TOS)
		return 0;
	next.offset = ip.offset;
	next.what = NEXT_ETHER | (ip.is_v4 ? ETH_P_IP : ETH_P_IPV6);
	bpf_for(i, 0, NAME_HEADERS_MAX) {
		next.what = name_header(ctx, name, &next);
		if (next.what == NEXT_NONE)
			break;
	}
	return 0;
}

#endif /* FLOW_NAME_BPF_H */
