// SPDX-License-Identifier: GPL-2.0-only
/* Tells the sockets of a cgroup the base RTT of their peer. A congestion control asks once, as it
 * takes a socket over: tcpnv_init(), net/ipv4/tcp_nv.c, is the one that does.
 */
#include "peer.bpf.h"
#include "tcp_base_rtt.h"

char LICENSE[] SEC("license") = "GPL";

/* Who writes it is the tool. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, BASE_RTT_PREFIXES);
	__type(key, struct ip_prefix);
	__type(value, struct base_rtt);
} base_rtts SEC(".maps");

static __always_inline void answer(struct bpf_sock_ops *ops)
{
	struct base_rtt *known;
	struct ip_prefix peer;

	peer_of(ops, &peer);
	known = bpf_map_lookup_elem(&base_rtts, &peer);
	if (!known)
		return;
	__sync_fetch_and_add(&known->asked, 1);
	ops->reply = known->rtt_us;
}

/* 1 always: 0 would silence all programs that are asked with us (tcp_call_bpf(),
 * include/net/tcp.h). What another one has answered stays: those of a control group are asked
 * before those of the group around it, and the nearer one knows better.
 */
SEC("sockops")
int tcp_base_rtt(struct bpf_sock_ops *ops)
{
	if (ops->op == BPF_SOCK_OPS_BASE_RTT && (__s32)ops->reply <= 0)
		answer(ops);
	return 1;
}
