/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose a packet is, by one of its addresses. */
#ifndef SCHEDULE_ADDRESS_BPF_H
#define SCHEDULE_ADDRESS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ecn.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "verifier.bpf.h"

/* Where the addresses are in a header: IPv4 (RFC 791, 3.1) and IPv6 (RFC 8200, 3). */
#define IPV4_SOURCE 12
#define IPV4_TARGET 16
#define IPV6_SOURCE 8
#define IPV6_TARGET 24

/* Nobody's: no IP header was found. */
#define LABEL_NONE 0

/* Whoever includes this says whose an address is, which is in network byte order: of IPv6 the two
 * halves.
 */
static __always_inline u32 label_of_v4(const struct instance *in, u32 address);
static __always_inline u32 label_of_v6(const struct instance *in, u64 high, u64 low);

/* Of a usual packet (tos_direct()). */
static __always_inline u32 label_direct(struct __sk_buff *ctx, const struct instance *in)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const u8 *data = (const u8 *)(long)ctx->data, *data_end = (const u8 *)(long)ctx->data_end;
	const bool by_source = in->schedule.many.is_by_source;
	u32 offset = network_offset(skb);
	const u8 *header;

	if (offset > 255)
		return LABEL_NONE;
	header = data + offset;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (header + IPV4_HEADER_MIN > data_end)
			return LABEL_NONE;
		header += by_source ? IPV4_SOURCE : IPV4_TARGET;
		return label_of_v4(in, word_at(header));
	}
	if (header + IPV6_HEADER > data_end)
		return LABEL_NONE;
	header += by_source ? IPV6_SOURCE : IPV6_TARGET;
	return label_of_v6(in, long_at(header), long_at(header + 8));
}

/* Behind a header that ip_search() has found. */
static __noinline u32 label_searched(const struct instance *in, struct bpf_dynptr *frame,
				     const struct ip_header *ip)
{
	const bool by_source = in->schedule.many.is_by_source;
	u64 address[2];
	u32 word;

	if (ip->tos == NO_TOS)
		return LABEL_NONE;
	if (ip->is_v4) {
		if (bpf_dynptr_read(&word, sizeof(word), frame,
				    ip->offset + (by_source ? IPV4_SOURCE : IPV4_TARGET), 0))
			return LABEL_NONE;
		return label_of_v4(in, word);
	}
	if (bpf_dynptr_read(address, sizeof(address), frame,
			    ip->offset + (by_source ? IPV6_SOURCE : IPV6_TARGET), 0))
		return LABEL_NONE;
	return label_of_v6(in, address[0], address[1]);
}

static __always_inline u32 schedule_label_late(const struct instance *in, struct bpf_dynptr *frame,
					       const struct ip_header *ip)
{
	return label_searched(in, frame, ip);
}

static __noinline u32 label_anywhere(struct __sk_buff *ctx, const struct instance *in)
{
	struct bpf_dynptr frame;
	struct ip_header ip;

	bpf_dynptr_from_skb(ctx, 0, &frame);
	ip_search(&frame, bpf_cast_to_kern_ctx(ctx), &ip);
	return label_searched(in, &frame, &ip);
}

static __always_inline u32 schedule_label(struct __sk_buff *ctx, const struct instance *in,
					  bool is_direct)
{
	return is_direct ? label_direct(ctx, in) : label_anywhere(ctx, in);
}

#endif /* SCHEDULE_ADDRESS_BPF_H */
