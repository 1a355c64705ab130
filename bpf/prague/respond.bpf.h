/* SPDX-License-Identifier: GPL-2.0-only */
/* What an ACK does to the window and the pacing rate. The kernel leaves to a congestion control
 * with cong_control() what it does itself for others (net/ipv4/tcp_input.c, tcp_cong_control()):
 * proportional rate reduction, pacing, the restart after an idle time.
 */
#ifndef PRAGUE_RESPOND_BPF_H
#define PRAGUE_RESPOND_BPF_H

#include "prague/fallback.bpf.h"

static __always_inline u64 window_min(const struct tcp_sock *tp)
{
	return prague_window_min(srtt_us(tp), mtu_of(tp));
}

/* A virtual RTT lasts a round trip at least. */
static __always_inline void begin_round(const struct tcp_sock *tp, struct prague_socket *own)
{
	own->next_seq = tp->snd_nxt;
	own->missed_seq = follow(tp, own->missed_seq);
	own->lost_seq = follow(tp, own->lost_seq);
	prague_round(&own->cc, tp->tcp_mstamp, tp->delivered, tp->delivered_ce, in_slow_start(tp));
}

static __always_inline bool round_is_over(const struct tcp_sock *tp,
					  const struct prague_socket *own)
{
	return is_acked(tp, own->next_seq) &&
	       (!prague_is_independent(&own->cc) ||
		prague_has_passed(PRAGUE_RTT_US, own->cc.round_us, tp->tcp_mstamp));
}

/* A route's `initcwnd` may begin beyond the end. */
static __always_inline void bound_cwnd(struct tcp_sock *tp)
{
	const u32 max = prague_cwnd_max(tp->snd_cwnd_clamp);

	if (tp->snd_cwnd > max)
		tp->snd_cwnd = max;
}

/* Take over a socket that has just been established, or comes from another congestion control. */
static __always_inline void set_up(struct tcp_sock *tp, struct prague_socket *own)
{
	own->cc = (struct prague){};
	bound_cwnd(tp);
	prague_set_window(&own->cc, tp->snd_cwnd * PRAGUE_PACKET);
	own->is_set_up = true;
	own->lost_seq = tp->snd_una;
	begin_round(tp, own);
	own->cc.rounds = 0;
}

/* Whatever comes first after the handshake: an ACK, or a loss. */
static __always_inline bool ensure_set_up(struct tcp_sock *tp, struct prague_socket *own)
{
	if (!own->is_set_up && !is_in_handshake(tp))
		set_up(tp, own);
	return own->is_set_up;
}

/* `packets` arrived without CE. */
static __always_inline void grow(struct tcp_sock *tp, struct prague_socket *own, u32 packets)
{
	if (in_slow_start(tp)) {
		u32 room = tp->snd_ssthresh - tp->snd_cwnd;
		u32 step = packets < room ? packets : room;

		tp->snd_cwnd += step;
		bound_cwnd(tp);
		prague_set_window(&own->cc, tp->snd_cwnd * PRAGUE_PACKET);
		packets -= step;
	}
	if (packets)
		prague_increase(&own->cc, packets,
				own->mode == PRAGUE_SCALABLE ? prague_gain(&own->cc, srtt_us(tp))
							     : PRAGUE_PACKET,
				mtu_of(tp));
	prague_bound(&own->cc, tp->snd_cwnd_clamp);
}

static __always_inline void cut(struct tcp_sock *tp, struct prague_socket *own, u32 ce)
{
	if (own->mode == PRAGUE_SCALABLE)
		prague_ce(&own->cc, ce, tp->tcp_mstamp, srtt_us(tp), window_min(tp));
	else
		prague_ce_reno(&own->cc, tp->tcp_mstamp, srtt_us(tp), window_min(tp));
	if (in_slow_start(tp))
		tp->snd_ssthresh = tp->snd_cwnd;
}

/* Also in Recovery and Loss: down after the cut, up again after a timeout. */
static __always_inline void step_cwnd(struct tcp_sock *tp, const struct prague_socket *own)
{
	const u32 cwnd = prague_cwnd(&own->cc, tp->snd_cwnd, tp->snd_cwnd_clamp);

	if (cwnd < tp->snd_cwnd)
		tp->snd_ssthresh = cwnd;
	tp->snd_cwnd = cwnd;
}

static __always_inline void set_pacing(struct tcp_sock *tp, const struct prague_socket *own)
{
	struct sock *sk = (struct sock *)tp;
	const bool fast = tp->snd_cwnd < tp->snd_ssthresh / 2;
	u64 rate = prague_pacing(&own->cc, packets_in_flight(tp), mtu_of(tp), srtt_us(tp),
				 tp->tcp_mstamp, fast);

	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* The mode of a socket that has no obstacle(). */
static __always_inline u16 mode_of(const struct tcp_sock *tp, const struct prague_socket *own)
{
	if (!is_ect1(own, tp))
		return PRAGUE_NOT_ECT1;
	return own->classic.is_classic ? PRAGUE_CLASSIC_AQM : PRAGUE_SCALABLE;
}

/* What marks ECT(0) packets may be the Classic queue of an AQM that has another for L4S. */
static __always_inline bool is_sent_as_ect1(const struct prague_socket *own)
{
	return own->mode == PRAGUE_SCALABLE || own->mode == PRAGUE_CLASSIC_AQM;
}

/* An ACK: of `acked` packets, and `rtt` after the last of them was sent (us; < 0: unknown). True:
 * the socket should fall back to Classic ECN (detect_classic()).
 */
static __always_inline bool respond(struct tcp_sock *tp, struct prague_socket *own, u32 acked,
				    long rtt)
{
	const u32 ce = tp->delivered_ce - own->delivered_ce;
	bool repeated = false;

	own->delivered_ce = tp->delivered_ce;
	if (rtt > 0)
		classic_ecn_sample(&own->classic, rtt, classic_ecn_shift(tp->snd_ssthresh));
	if (ce) /* pure ACKs of ours may have had CE long ago: no more than this ACK is worth */
		cut(tp, own, ce < acked ? ce : acked ?: 1);
	if (acked > ce && ca_state(tp) < TCP_CA_RECOVERY && is_limited(tp, own))
		grow(tp, own, acked - ce);
	step_cwnd(tp, own);
	if (round_is_over(tp, own)) {
		begin_round(tp, own);
		repeated = own->cc.saw_ce && is_sent_as_ect1(own) && detect_classic(tp, own);
	}
	set_pacing(tp, own);
	return repeated;
}

/* A loss: half, once for all that was out then, and slow start ends there. */
static __always_inline void lose(struct tcp_sock *tp, struct prague_socket *own)
{
	if (!is_acked(tp, own->lost_seq))
		return;
	own->lost_seq = tp->snd_nxt;
	prague_loss(&own->cc);
	tp->snd_ssthresh = own->cc.window / PRAGUE_PACKET;
	if (tp->snd_ssthresh < PRAGUE_CWND_MIN)
		tp->snd_ssthresh = PRAGUE_CWND_MIN;
}

/* There was none. */
static __always_inline void undo(const struct tcp_sock *tp, struct prague_socket *own)
{
	prague_undo(&own->cc);
	prague_bound(&own->cc, tp->snd_cwnd_clamp);
	own->lost_seq = tp->snd_una;
}

/* It sends again: what the window was worth before is not known to be still true
 * (RFC 9293, 3.8.5; net/ipv4/tcp_output.c, tcp_cwnd_restart()).
 */
static __always_inline void restart(struct tcp_sock *tp, struct prague_socket *own)
{
	const u32 idle = (u32)bpf_jiffies64() - tp->lsndtime;
	const u64 before = own->cc.window;

	/* With packets out it is a retransmission of all of them. */
	if (!own->is_set_up || tp->packets_out ||
	    !sk_of(tp)->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle)
		return;
	prague_idle(&own->cc, idle, tp->inet_conn.icsk_rto, TCP_INIT_CWND);
	if (own->cc.window == before)
		return;
	if (tp->snd_ssthresh < tp->snd_cwnd - tp->snd_cwnd / 4)
		tp->snd_ssthresh = tp->snd_cwnd - tp->snd_cwnd / 4;
	if (prague_packets(&own->cc) < tp->snd_cwnd)
		tp->snd_cwnd = prague_packets(&own->cc);
}

#endif /* PRAGUE_RESPOND_BPF_H */
