/* SPDX-License-Identifier: GPL-2.0-only */
/* A TCP socket of the kernel as Prague sees it, and what Prague keeps about it. */
#ifndef PRAGUE_SOCKET_BPF_H
#define PRAGUE_SOCKET_BPF_H

#include "prague/tcp.bpf.h"
#include "tcp_prague.h"

/* include/uapi/linux/tcp.h, include/net/tcp_states.h, include/net/tcp.h */
#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_INIT_CWND 10

/* include/net/sock.h: net/ipv4/tcp_output.c paces, if no qdisc does */
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct prague_socket);
} prague_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prague_config);
} prague_config SEC(".maps");

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline const struct sock *sk_of(const struct tcp_sock *tp)
{
	return &tp->inet_conn.icsk_inet.sk;
}

static __always_inline struct prague_socket *prague_socket(struct sock *sk)
{
	return bpf_sk_storage_get(&prague_sockets, sk, NULL, 0);
}

static __always_inline struct prague_config config(void)
{
	__u32 zero = 0;
	const struct prague_config *now = bpf_map_lookup_elem(&prague_config, &zero);

	return now ? *now : (struct prague_config){};
}

static __always_inline u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static __always_inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static __always_inline u32 srtt_us(const struct tcp_sock *tp)
{
	return tp->srtt_us >> 3 ?: 1;
}

/* Bytes of a full packet with its IP header: what a link carries, and the AQM counts. */
static __always_inline u32 mtu_of(const struct tcp_sock *tp)
{
	return tp->mss_cache + tp->tcp_header_len +
	       (sk_of(tp)->__sk_common.skc_family == AF_INET6 ? 40 : 20);
}

/* Is there more to send than the window and pacing let go? Pacing alone is enough: below two
 * packets the kernel's window is never the limit. But of a window that was never used by half
 * something else is the limit: the receiver's room, for example.
 */
static __always_inline bool is_limited(const struct tcp_sock *tp, const struct prague_socket *own)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ||
	       (tp->write_seq != tp->snd_nxt &&
		own->cc.window < 2 * PRAGUE_PACKET * tp->max_packets_out);
}

static __always_inline u8 ca_state(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
}

/* Has all been acknowledged that was sent before `seq`? */
static __always_inline bool is_acked(const struct tcp_sock *tp, u32 seq)
{
	return (s32)(tp->snd_una - seq) >= 0;
}

/* A sequence number that has been passed has to follow: after 2 GB it would be ahead again. */
static __always_inline u32 follow(const struct tcp_sock *tp, u32 seq)
{
	return is_acked(tp, seq) ? tp->snd_una : seq;
}

/* Has each packet that may still be answered been made ECT(1)? (prague_ect1 leaves the stamp,
 * before the kernel returns from sending.)
 */
static __always_inline bool is_ect1(const struct prague_socket *own, const struct tcp_sock *tp)
{
	return own->stamp == tp->segs_out && is_acked(tp, own->missed_seq);
}

/* `packets` of the socket leave as ECT(1). Seen on two devices they count once. */
static __always_inline void stamp(struct prague_socket *own, const struct tcp_sock *tp, u32 packets)
{
	if (own->stamp != tp->segs_out && own->stamp + packets != tp->segs_out)
		own->missed_seq = tp->snd_nxt;
	own->stamp = tp->segs_out;
}

#endif /* PRAGUE_SOCKET_BPF_H */
