/* SPDX-License-Identifier: GPL-2.0-only */
/* The coupling of both queues (RFC 9332, 2.1 and A.1): what a p', wherever it comes from, means for
 * each packet. An AQM that has a p' gives it to coupled_set_prob() and takes its marks and drops
 * from here.
 *
 *			in L				in C
 *	scalable	p_L = max(p'_L, p_CL)		p_CL
 *	Classic		(p_L / k)^2			p_C = p'^2
 *
 * p'_L is the probability of the L queue's own AQM (laqm.h), p_CL = k * p'. In overload L4S packets
 * in L are always marked, and all packets dropped with p_C instead of Classic marks.
 */
#ifndef COUPLED_BPF_H
#define COUPLED_BPF_H

#include "aqm.bpf.h"
#include "coupling.h"
#include "laqm.h"

/* State, one for each DualQ. Any CPU may add to the sums: coupling_recurs(). */
struct coupled {
	u64 l_marks;   /* sum of p_L over the packets it applied to, 2^-32 */
	u64 l_hits;    /* sum of p_C over the packets in L it applied to, 2^-32 */
	u64 c_hits;    /* sum of p_C over the packets in C it applied to, 2^-32 */
	u32 prob;      /* p', 2^-32 */
	u8 l_overload; /* 1: L drops what it could mark (RFC 9332, 4.2.3) */
	u8 c_overload; /* the same of C */
};

/* Derived from the parameters, one for each qdisc. */
struct coupled_law {
	struct coupling coupling;
	u64 sure_delay_ns; /* above it p'_L rises no more */
};

/* Below a backlog of two full frames p' neither marks nor drops (as in sch_dualpi2): the delay
 * that it would fight is that of a single packet on a slow link.
 */
static __always_inline bool coupled_rests(const struct instance *in, const struct dualq *q)
{
	return backlog_bytes(in, q) < 2ULL * full_frame(in);
}

/* Marks and drops come at even distances (RFC 9332, A.1, `recur`), not by dice as in
 * sch_dualpi2. A flow cuts its window once in a round trip, so dice that give it none
 * in one and two in the next leave it more than its share.
 */
static __always_inline bool recurs(u64 *count, u64 prob)
{
	return coupling_recurs(__sync_fetch_and_add(count, prob), prob);
}

/* p'_L of a packet in L whose delay is, or will be, `delay_ns`. */
static __always_inline u32 native_prob(const struct instance *in, const struct dualq *q,
				       u64 delay_ns)
{
	return laqm_prob(params_of(in), delay_ns, l_packets(q));
}

static __always_inline bool drops_marked(const struct coupled *coupled, bool in_l)
{
	return in_l ? coupled->l_overload : coupled->c_overload;
}

/* Is it a Classic packet's turn to be marked or dropped: by p', or by what p'_L means to
 * a Classic sender if that is more.
 */
static __always_inline bool classic_hit(struct coupled *coupled, u8 k, bool in_l, u32 prob,
					u32 native)
{
	u32 classic = native > coupling_p_cl(prob, k) ? coupling_classic_of(native, k)
						      : coupling_p_c(prob);

	return recurs(in_l ? &coupled->l_hits : &coupled->c_hits, classic);
}

/* aqm_may_mark(): most of the time L is empty and p' is 0. */
static __always_inline bool coupled_may_mark(struct dualq *q)
{
	return coupled_of(q)->prob | l_packets(q);
}

/* What mark an arriving packet gets if p' is `prob`. The native qdisc marks at dequeue and so knows
 * the packet's sojourn time. Here a forecast stands for it.
 */
static __always_inline enum mark coupled_mark_at(struct instance *in, struct dualq *q,
						 const struct arrival *arrival, u32 prob)
{
	bool in_l = arrival->flags & PACKET_L, scalable = arrival->flags & PACKET_SCALABLE;
	const struct coupled_law *law = coupled_law_of(in);
	struct coupled *coupled = coupled_of(q);
	u32 native = 0;
	u64 p_cl;
	bool hit;

	if (in_l && l_packets(q))
		native = native_prob(in, q, l_forecast(in, q, arrival->now, law->sure_delay_ns));
	if (scalable && native == PROB_MAX)
		return MARK_NATIVE;
	if (!prob && !native)
		return MARK_NONE;
	if (prob && coupled_rests(in, q))
		prob = 0;
	p_cl = coupling_p_cl(prob, law->coupling.k);
	if (scalable)
		hit = recurs(&coupled->l_marks, native > p_cl ? native : p_cl);
	else
		hit = !drops_marked(coupled, in_l) &&
		      classic_hit(coupled, law->coupling.k, in_l, prob, native);
	if (!hit)
		return MARK_NONE;
	return native > p_cl ? MARK_NATIVE : MARK_COUPLED;
}

/* aqm_mark() */
static __always_inline enum mark coupled_mark(struct instance *in, struct dualq *q,
					      const struct arrival *arrival)
{
	return coupled_mark_at(in, q, arrival, coupled_of(q)->prob);
}

/* aqm_may_drop() */
static __always_inline bool coupled_may_drop(struct dualq *q, bool in_l, u32 flags)
{
	const struct coupled *coupled = coupled_of(q);

	return flags & PACKET_NOT_ECT ? in_l || coupled->prob : drops_marked(coupled, in_l);
}

/* aqm_drop(): a packet that no mark can tell of congestion is dropped with p_C, in L with what p_L
 * is to a Classic sender (RFC 9332, 2.5.1.1); in overload every packet with p_C.
 */
static __always_inline enum drop coupled_drop(struct instance *in, struct dualq *q, u32 flags,
					      bool in_l, u64 sojourn_ns)
{
	bool not_ect = flags & PACKET_NOT_ECT;
	struct coupled *coupled = coupled_of(q);
	u32 prob = coupled->prob, native = 0;

	/* One that came without a tag is L4S for all we know: p_C has to do. */
	if (in_l && not_ect && !(flags & PACKET_UNTAGGED))
		native = native_prob(in, q, sojourn_ns);
	if (!prob && !native)
		return DROP_NONE;
	if (flags & PACKET_EXEMPT)
		return DROP_NONE;
	if (prob && coupled_rests(in, q))
		prob = 0;
	if (!classic_hit(coupled, coupled_law_of(in)->coupling.k, in_l, prob, native))
		return DROP_NONE;
	return not_ect ? DROP_AQM : DROP_OVERLOAD;
}

/* The p' of a law that knows no bound. */
static __always_inline u32 coupled_bound(struct instance *in, u32 prob)
{
	const u32 prob_max = coupled_law_of(in)->coupling.prob_max;

	return prob < prob_max ? prob : prob_max;
}

/* A new p', and what hangs on it for every packet until the next one. */
static __always_inline void coupled_set_prob(struct instance *in, struct dualq *q, u32 prob)
{
	const struct coupling *coupling = &coupled_law_of(in)->coupling;
	struct coupled *coupled = coupled_of(q);

	coupled->prob = prob;
	coupled->l_overload = coupling_l_overloaded(coupling, prob);
	coupled->c_overload = coupling_c_overloaded(coupling, prob);
}

/* What aqm_update() returns */
static __always_inline bool coupled_is_saturated(struct instance *in, struct dualq *q)
{
	return coupling_saturated(&coupled_law_of(in)->coupling, coupled_of(q)->prob);
}

/* aqm_params() */
static __always_inline void coupled_params(struct instance *in)
{
	const struct dualpi2_params *params = params_of(in);
	struct coupled_law *law = coupled_law_of(in);

	law->sure_delay_ns = laqm_sure_delay(params);
	law->coupling = coupling_make(params->coupling, params->p_cmax, params->overflow);
}

/* aqm_relaw() */
static __always_inline void coupled_relaw(struct instance *in, struct dualq *q)
{
	coupled_set_prob(in, q, coupled_of(q)->prob);
}

/* aqm_reset() */
static __always_inline void coupled_reset(struct instance *in, struct dualq *q)
{
	*coupled_of(q) = (struct coupled){};
	coupled_set_prob(in, q, 0);
}

/* What packets are marked and dropped with. */
static __always_inline void coupled_levels(struct instance *in, struct dualq *q,
					   struct dualpi2_levels *levels)
{
	u32 prob = coupled_of(q)->prob;
	u64 p_cl = coupling_p_cl(prob, coupled_law_of(in)->coupling.k);

	levels->prob = prob;
	levels->p_c = coupling_p_c(prob);
	levels->p_cl = p_cl < PROB_MAX ? p_cl : PROB_MAX;
}

#endif /* COUPLED_BPF_H */
