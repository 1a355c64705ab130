/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a socket talks to, for the programs on control groups (sockops). */
#ifndef PEER_BPF_H
#define PEER_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ip_prefix.h"

#define AF_INET 2 /* include/linux/socket.h */

/* Its address, as a key for a longest-prefix map. */
static __always_inline void peer_of(struct bpf_sock_ops *ops, struct ip_prefix *peer)
{
	__be32 *words = (__be32 *)peer->address;

	peer->bits = PREFIX_BITS;
	/* The verifier wants the context read at constant places, not where branches meet. */
	words[0] = ops->remote_ip6[0];
	barrier();
	words[1] = ops->remote_ip6[1];
	barrier();
	words[2] = ops->remote_ip6[2];
	barrier();
	words[3] = ops->remote_ip6[3];
	barrier();
	if (ops->family == AF_INET) {
		words[0] = words[1] = 0;
		words[2] = bpf_htonl(0xffff);
		words[3] = ops->remote_ip4;
	}
}

#endif /* PEER_BPF_H */
