// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the congestion control for the sockets of a cgroup: before the handshake, so that the SYN
 * asks for AccECN. The programs in it need not know of it.
 *
 * Those on nested cgroups are asked from the inside out (kernel/bpf/cgroup.c,
 * compute_effective_progs()). The first that wants a socket has it, and says so to the others by a
 * reply, which the kernel ignores where they are asked.
 */
#include "find_netns.bpf.h"
#include "peer.bpf.h"
#include "prague/tcp.bpf.h"
#include "tcp_prague.h"

char LICENSE[] SEC("license") = "GPL";

#define IS_CHOSEN 0x50524147 /* bpf_sock_ops.reply: "PRAG" */

/* Set before it is loaded. */
const volatile char congestion[PRAGUE_NAME_MAX] = PRAGUE_NAME;
const volatile __u64 netns; /* cookie of the only network namespace that it is for; 0: all */
const volatile bool has_to; /* only for destinations in `to` */

/* Destinations. Who writes them is the tool. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PRAGUE_PREFIXES);
	__type(key, struct ip_prefix);
	__type(value, __u8);
} to SEC(".maps"), not_to SEC(".maps");

static __always_inline void choose(struct bpf_sock_ops *ops, const volatile char *name, int length)
{
	char copy[sizeof(congestion)];

	for (int i = 0; i < (int)sizeof(copy); i++)
		copy[i] = name[i];
	bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, copy, length);
}

static __always_inline bool is_wanted(struct bpf_sock_ops *ops)
{
	struct ip_prefix peer;

	peer_of(ops, &peer);
	return (!has_to || bpf_map_lookup_elem(&to, &peer)) && !bpf_map_lookup_elem(&not_to, &peer);
}

/* Has it the congestion control that is chosen for all? */
static __always_inline bool is_ours(struct bpf_sock_ops *ops)
{
	char name[sizeof(congestion)] = "";

	bpf_getsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
	for (int i = 0; i < (int)sizeof(name); i++) {
		if (name[i] != congestion[i])
			return false;
		if (!name[i])
			break;
	}
	return true;
}

static __always_inline bool may_be_chosen(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;

	return tp && has_accecn(tp);
}

static __always_inline void take(struct bpf_sock_ops *ops)
{
	choose(ops, congestion, sizeof(congestion));
	ops->reply = IS_CHOSEN;
}

/* A connection that was accepted, by a socket that had been chosen or listened before. */
static __always_inline void look_at(struct bpf_sock_ops *ops)
{
	static const char fallback[PRAGUE_NAME_MAX] = PRAGUE_FALLBACK;

	if (is_wanted(ops)) {
		/* Again, if that is one which was switched off and still listens. */
		if (is_ours(ops) || may_be_chosen(ops))
			take(ops);
	} else if (is_ours(ops)) {
		choose(ops, fallback, sizeof(PRAGUE_FALLBACK) - 1);
	}
}

/* A socket that listens knows nobody yet: those that come of it are looked at one by one. */
SEC("sockops")
int prague_opt_in(struct bpf_sock_ops *ops)
{
	if (ops->reply == IS_CHOSEN || (netns && bpf_get_netns_cookie(ops) != netns))
		return 1;
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		if (is_wanted(ops))
			take(ops);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		take(ops);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		look_at(ops);
		break;
	}
	return 1;
}

SEC("tc")
int prague_find_netns(struct __sk_buff *ctx)
{
	return find_netns(ctx);
}
