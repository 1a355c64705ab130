/* SPDX-License-Identifier: GPL-2.0-only */
/* When a socket may not respond as Prague, or not now: enum prague_mode. */
#ifndef PRAGUE_FALLBACK_BPF_H
#define PRAGUE_FALLBACK_BPF_H

#include <bpf/bpf_endian.h>

#include "prague/socket.bpf.h"

#define NS_PER_S 1000000000ULL

/* Where a Classic AQM was seen. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PRAGUE_DESTINATIONS);
	__type(key, struct prague_destination);
	__type(value, struct prague_sighting);
} prague_classic SEC(".maps");

/* ---- destinations ------------------------------------------------------------------ */

/* The network of the peer. */
static __always_inline struct prague_destination destination_of(const struct tcp_sock *tp)
{
	const struct sock_common *common = &sk_of(tp)->__sk_common;
	struct prague_destination to;

	if (common->skc_family == AF_INET6)
		prague_network_v6(common->skc_v6_daddr.in6_u.u6_addr32, &to);
	else
		prague_network_v4(common->skc_daddr, &to);
	return to;
}

/* Is it a network whose operator knows its AQMs? RFC 9331 asks for the detection on uncontrolled
 * paths. (RFC 1918, RFC 3927, RFC 6598, loopback; RFC 4193, RFC 4291.)
 */
static __always_inline bool is_private(const struct prague_destination *to)
{
	const u32 net = bpf_ntohl(to->prefix[0]);

	if (to->v6)
		return net >> 25 == 0xfc >> 1 || net >> 22 == 0xfe80 >> 6 || !net;
	return net >> 24 == 10 || net >> 20 == (172 << 8 | 16) >> 4 ||
	       net >> 16 == (192 << 8 | 168) || net >> 16 == (169 << 8 | 254) ||
	       net >> 22 == (100 << 8 | 64) >> 6 || net >> 24 == 127;
}

static __always_inline u64 now_s(void)
{
	return bpf_ktime_get_boot_ns() / NS_PER_S;
}

/* How often a Classic AQM has been seen on the way to it, if not too long ago. */
static __always_inline u32 times_seen(const struct prague_destination *to)
{
	const struct prague_sighting *seen = bpf_map_lookup_elem(&prague_classic, to);

	return seen && now_s() - seen->seen_s < PRAGUE_REMEMBERED_S ? seen->times : 0;
}

/* Another time: how often now. */
static __always_inline u32 see_again(const struct prague_destination *to)
{
	struct prague_sighting seen = { .seen_s = now_s(), .times = times_seen(to) + 1 };

	bpf_map_update_elem(&prague_classic, to, &seen, BPF_ANY);
	return seen.times;
}

/* ---- falling back ------------------------------------------------------------------ */

static __always_inline bool is_in_handshake(const struct tcp_sock *tp)
{
	const u8 state = sk_of(tp)->__sk_common.skc_state;

	return state == TCP_SYN_SENT || state == TCP_SYN_RECV;
}

/* 0, or -errno. */
static __always_inline long become_fallback(struct sock *sk)
{
	char name[] = PRAGUE_FALLBACK;

	return bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name) - 1);
}

/* Become another congestion control's, for good. Afterwards prague_release() has run. A route with
 * `congctl lock` refuses it: then the socket stays here, and responds as Reno.
 */
static __always_inline void fall_back(struct sock *sk, struct prague_socket *own, u16 mode)
{
	own->mode = mode;
	if (own->is_locked)
		return;
	own->is_locked = become_fallback(sk) != 0;
}

/* The reason for which this socket may not be Prague's; PRAGUE_SCALABLE: there is none. */
static __always_inline u16 obstacle(const struct tcp_sock *tp, const struct prague_socket *own)
{
	if (config().retire)
		return PRAGUE_RETIRED;
	if (own->mode >= PRAGUE_NO_ACCECN) /* remembered, or locked */
		return own->mode;
	return has_accecn(tp) ? PRAGUE_SCALABLE : PRAGUE_NO_ACCECN;
}

/* Is a Classic AQM known on the way of a new socket? */
static __always_inline bool is_remembered(const struct tcp_sock *tp)
{
	const struct prague_destination to = destination_of(tp);

	return !config().no_classic_detection && times_seen(&to) > 1;
}

/* A virtual RTT has ended in which something marked. True: for the second time an AQM on the way
 * turns out to be Classic. To a slow flow a few packets of others are milliseconds, whatever the
 * AQM (arXiv 1911.00710: not reliable at low rates): it is not judged.
 */
static __always_inline bool detect_classic(const struct tcp_sock *tp, struct prague_socket *own)
{
	const struct prague_destination to = destination_of(tp);
	const bool was_classic = own->classic.is_classic;

	if (config().no_classic_detection || is_private(&to) ||
	    prague_is_slow(&own->cc, srtt_us(tp)))
		return false;
	classic_ecn_round(&own->classic, tp->rtt_min.s[0].v);
	return own->classic.is_classic && !was_classic && see_again(&to) > 1;
}

#endif /* PRAGUE_FALLBACK_BPF_H */
