/* SPDX-License-Identifier: GPL-2.0-only */
/* What both objects of TCP Prague need to know of the kernel's TCP. */
#ifndef PRAGUE_TCP_BPF_H
#define PRAGUE_TCP_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* include/uapi/linux/in.h, include/uapi/linux/tcp.h, include/linux/socket.h */
#define IPPROTO_TCP 6
#define TCP_CONGESTION 13
#define AF_INET6 10

/* include/linux/tcp.h: tcp_sock.ecn_flags */
#define TCP_ECN_MODE_RFC3168 (1U << 0)
#define TCP_ECN_MODE_ACCECN (1U << 4)
#define TCP_ECN_MODE_ANY (TCP_ECN_MODE_RFC3168 | TCP_ECN_MODE_ACCECN) /* both: pending */

/* Is AccECN negotiated, and does it work? Nothing is known during the handshake. */
static __always_inline bool has_accecn(const struct tcp_sock *tp)
{
	return (tp->ecn_flags & TCP_ECN_MODE_ANY) == TCP_ECN_MODE_ACCECN &&
	       !BPF_CORE_READ_BITFIELD(tp, accecn_fail_mode);
}

#endif /* PRAGUE_TCP_BPF_H */
