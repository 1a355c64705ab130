/* SPDX-License-Identifier: GPL-2.0-only */
/* A socket, for tcp-prague status. */
#ifndef PRAGUE_STATUS_BPF_H
#define PRAGUE_STATUS_BPF_H

#include "prague/socket.bpf.h"

static __always_inline void copy_addresses(struct prague_report *to, const struct sock_common *from)
{
	if (from->skc_family == AF_INET6) {
		for (int i = 0; i < 4; i++) {
			to->source[i] = from->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			to->destination[i] = from->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	} else {
		to->source[0] = from->skc_rcv_saddr;
		to->destination[0] = from->skc_daddr;
	}
	to->family = from->skc_family;
	to->source_port = from->skc_num;
	to->destination_port = __builtin_bswap16(from->skc_dport);
	to->netns = from->skc_net.net->net_cookie;
}

static __always_inline void report(struct seq_file *seq, const struct tcp_sock *tp,
				   const struct prague_socket *own)
{
	const u8 ecn = tp->ecn_flags & TCP_ECN_MODE_ANY;
	struct prague_report shown = {
		.pacing_rate = sk_of(tp)->sk_pacing_rate,
		.window = own->cc.window,
		.mode = own->mode,
		.srtt_us = srtt_us(tp),
		.cwnd = tp->snd_cwnd,
		.alpha = own->cc.alpha,
		.delivered = tp->delivered,
		.delivered_ce = tp->delivered_ce,
		.classic_score = own->classic.score,
		.accecn = ecn == TCP_ECN_MODE_ACCECN,
		.rfc3168 = ecn == TCP_ECN_MODE_RFC3168,
		.is_locked = own->is_locked,
	};

	copy_addresses(&shown, &sk_of(tp)->__sk_common);
	bpf_seq_write(seq, &shown, sizeof(shown));
}

#endif /* PRAGUE_STATUS_BPF_H */
