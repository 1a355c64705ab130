// SPDX-License-Identifier: GPL-2.0-only
/* TCP Prague on stock kernels: a congestion control that responds to Accurate ECN (RFC 9768) as
 * L4S asks it to (RFC 9331, 4.3), and a tcx program that makes its packets ECT(1).
 *
 *	opt_in.bpf.c	chooses it for sockets, or the application does (TCP_CONGESTION)
 *	prague_init	storage for what we keep about the socket
 *	prague_ect1	tcx egress: the socket's packets become ECT(1), and a stamp in the storage
 *			says so
 *	prague_control	an ACK: CE, loss, window, pacing (respond.bpf.h)
 *	prague_report	an iterator, for the tool
 *
 * Not one packet is ECT(1) without a response to CE, and no response is Prague's without ECT(1): a
 * socket is Prague's only as long as the stamp says that all its packets passed prague_ect1. Until
 * then, and if that stops, it responds as Reno. Without AccECN it becomes Cubic's
 * (fallback.bpf.h).
 */
#include "prague/ect1.bpf.h"
#include "prague/fallback.bpf.h"
#include "prague/respond.bpf.h"
#include "prague/socket.bpf.h"
#include "prague/status.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/* include/net/tcp.h. The SYN asks for AccECN, whatever net.ipv4.tcp_ecn says; everybody may choose
 * it. Not with TCP_CONG_NO_FALLBACK_RFC3168: the fallback would have no ECN.
 */
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ACCECN 4

/* ---- a socket's life ---------------------------------------------------------------- */

/* It may run in the handshake, before ECN is negotiated, and then never again. */
SEC("struct_ops")
void BPF_PROG(prague_init, struct sock *sk)
{
	struct prague_socket *own =
		bpf_sk_storage_get(&prague_sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (own)
		*own = (struct prague_socket){
			.mode = is_remembered(tcp_sk(sk)) ? PRAGUE_REMEMBERED : PRAGUE_PENDING,
			.delivered_ce = tcp_sk(sk)->delivered_ce,
			.missed_seq = tcp_sk(sk)->snd_nxt,
		};
}

/* The storage stays, for the reason that is in it. */
SEC("struct_ops")
void BPF_PROG(prague_release, struct sock *sk)
{
	struct prague_socket *own = prague_socket(sk);

	if (own && own->mode < PRAGUE_NO_ACCECN)
		own->mode = PRAGUE_LEFT;
	/* With a maximum of its own (SO_MAX_PACING_RATE) the application wants it, too. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
}

/* ---- a packet leaves ---------------------------------------------------------------- */

SEC("tcx/egress")
int prague_ect1(struct __sk_buff *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct prague_socket *own;
	struct tcp_sock *tp;

	if (!sk)
		return TCX_NEXT;
	own = bpf_sk_storage_get(&prague_sockets, sk, NULL, 0);
	if (!own || own->mode >= PRAGUE_NO_ACCECN)
		return TCX_NEXT;
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp && has_accecn(tp) && send_as_ect1(ctx))
		stamp(own, tp, wire_packets(bpf_cast_to_kern_ctx(ctx)));
	return TCX_NEXT;
}

/* It had nothing in flight before. */
static __always_inline void starts_to_send(struct sock *sk)
{
	struct prague_socket *own = prague_socket(sk);

	if (own)
		restart(tcp_sk(sk), own);
}

/* From 7.2 on there is a call for it, before that one for this and other events. */
SEC("?struct_ops")
void BPF_PROG(prague_tx_start, struct sock *sk)
{
	starts_to_send(sk);
}

SEC("?struct_ops")
void BPF_PROG(prague_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		starts_to_send(sk);
}

/* ---- an ACK arrives ------------------------------------------------------------------ */

/* The kernel reduces the threshold by it: what is to be reduced, lose() does. */
SEC("struct_ops")
__u32 BPF_PROG(prague_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* Recovery; Loss; CWR without CE that has not been responded to, which is the sender's own qdisc
 * without room (NET_XMIT_CN). For the kernel CWR by CE is a reduction as well, after which it does
 * not ask for another one; but by CE the window is hardly less.
 */
static __always_inline bool is_loss(const struct tcp_sock *tp, const struct prague_socket *own,
				    u8 state)
{
	return state >= TCP_CA_RECOVERY ||
	       (state == TCP_CA_CWR && tp->delivered_ce == own->delivered_ce);
}

SEC("struct_ops")
void BPF_PROG(prague_state, struct sock *sk, __u8 state)
{
	struct prague_socket *own = prague_socket(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (own && ensure_set_up(tp, own) && is_loss(tp, own, state))
		lose(tp, own);
}

SEC("struct_ops")
__u32 BPF_PROG(prague_undo_cwnd, struct sock *sk)
{
	struct prague_socket *own = prague_socket(sk);
	const u32 cwnd = tcp_sk(sk)->snd_cwnd;
	u32 window;

	if (!own)
		return cwnd;
	undo(tcp_sk(sk), own);
	window = own->cc.window / PRAGUE_PACKET;
	return window > cwnd ? window : cwnd;
}

/* The kernel's default would send two packets at a time even at 100 kbit/s. */
SEC("struct_ops")
__u32 BPF_PROG(prague_min_tso_segs, struct sock *sk)
{
	return 1;
}

SEC("struct_ops")
void BPF_PROG(prague_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct prague_socket *own = prague_socket(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u16 mode;

	if (is_in_handshake(tp))
		return;
	if (!own) { /* there was no memory for it */
		become_fallback(sk);
		return;
	}
	mode = obstacle(tp, own);
	if (mode != PRAGUE_SCALABLE) {
		fall_back(sk, own, mode);
		if (!own->is_locked)
			return; /* it is not ours any more */
	}
	ensure_set_up(tp, own);
	if (mode == PRAGUE_SCALABLE)
		own->mode = mode_of(tp, own);
	if (respond(tp, own, rs->acked_sacked, rs->rtt_us))
		fall_back(sk, own, PRAGUE_REMEMBERED);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops prague = {
	.init = (void *)prague_init,
	.release = (void *)prague_release,
	.ssthresh = (void *)prague_ssthresh,
	.set_state = (void *)prague_state,
	.cwnd_event = (void *)prague_event,
	.cwnd_event_tx_start = (void *)prague_tx_start,
	.undo_cwnd = (void *)prague_undo_cwnd,
	.min_tso_segs = (void *)prague_min_tso_segs,
	.cong_control = (void *)prague_control,
	.flags = TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ACCECN,
	.name = PRAGUE_NAME,
};

/* ---- what tcp-prague status shows ----------------------------------------------------- */

SEC("iter/bpf_sk_storage_map")
int prague_report(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	const struct prague_socket *own = ctx->value;
	struct sock *sk = ctx->sk;
	struct tcp_sock *tp;

	if (!sk || !own)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		report(ctx->meta->seq, tp, own);
	return 0;
}
