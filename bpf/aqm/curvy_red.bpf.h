/* SPDX-License-Identifier: GPL-2.0-only */
/* Curvy RED (RFC 9332, Appendix B): p' follows the smoothed delay of the Classic queue, packet by
 * packet.
 *
 * Appendix B leaves out overload protection. With it the age of the L queue's head counts, too:
 * what no mark tames makes p' rise there as it would in C (RFC 9332, 4.2.3).
 */
#ifndef AQM_CURVY_RED_BPF_H
#define AQM_CURVY_RED_BPF_H

#include "aqm/curvy_red.h"
#include "coupled.bpf.h"
#include "curvy_red.h"

struct aqm {
	u64 q_c_ns;   /* Q_C */
	u64 l_age_ns; /* of the L queue's head at the last update */
};

struct aqm_law {
	struct curvy_red_law curvy_red;
};

static __always_inline void set_delay(struct instance *in, struct dualq *q, u64 q_c_ns)
{
	const struct curvy_red_law *law = &aqm_law_of(in)->curvy_red;
	struct aqm *aqm = aqm_of(q);
	u32 prob = curvy_red_prob(law, q_c_ns > aqm->l_age_ns ? q_c_ns : aqm->l_age_ns);

	aqm->q_c_ns = q_c_ns;
	coupled_set_prob(in, q, coupled_bound(in, prob));
}

#define aqm_left aqm_left
static __always_inline void aqm_left(struct instance *in, struct dualq *q,
				     const struct packet_info *info, bool in_l, u64 sojourn_ns,
				     u64 now)
{
	if (!in_l)
		set_delay(in, q,
			  curvy_red_smooth(&aqm_law_of(in)->curvy_red, aqm_of(q)->q_c_ns,
					   sojourn_ns));
}

/* By the delay of C's head, too (CURVY_RED_INSTANT), while p' is still 0. */
#define aqm_may_mark aqm_may_mark
static __always_inline bool aqm_may_mark(const struct instance *in, struct dualq *q)
{
	return coupled_may_mark(q) || queue_bytes(in, q, false);
}

#define aqm_mark aqm_mark
static __always_inline enum mark aqm_mark(struct instance *in, struct dualq *q,
					  const struct arrival *arrival)
{
	const bool instant = aqm_own(params_of(in))->coupled_delay == CURVY_RED_INSTANT;

	if (!instant || !(arrival->flags & PACKET_L))
		return coupled_mark(in, q, arrival);
	return coupled_mark_at(in, q, arrival,
			       curvy_red_prob(&aqm_law_of(in)->curvy_red,
					      queue_age(q, false, arrival->now)));
}

/* TS-FIFO: C is served when its head has waited longer than L's by more than the time shift. */
#define aqm_schedules aqm_schedules
static __always_inline bool aqm_schedules(const struct instance *in)
{
	return aqm_own(params_of(in))->time_shift_ns;
}

static __always_inline bool aqm_serves_l(struct instance *in, struct dualq *q, u64 now)
{
	return queue_age(q, false, now) <=
	       queue_age(q, true, now) + aqm_own(params_of(in))->time_shift_ns;
}

/* A queue that is empty has no delay. */
static __always_inline bool aqm_update(struct instance *in, struct dualq *q, u64 now, u64 periods)
{
	struct aqm *aqm = aqm_of(q);

	aqm->l_age_ns = queue_age(q, true, now);
	set_delay(in, q, queue_age(q, false, now) ? aqm->q_c_ns : 0);
	return coupled_is_saturated(in, q);
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return !coupled_of(q)->prob && !aqm_of(q)->q_c_ns;
}

static __always_inline void aqm_params(struct instance *in)
{
	const struct aqm_params *own = aqm_own(params_of(in));

	aqm_law_of(in)->curvy_red =
		curvy_red_make(own->min_th_ns, own->range_ns, own->smoothing, own->curviness);
	coupled_params(in);
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	coupled_reset(in, q);
	*aqm_of(q) = (struct aqm){};
}

#define aqm_gauges aqm_gauges
static __always_inline void aqm_gauges(struct instance *in, struct dualq *q,
				       struct aqm_gauges *gauges, struct dualpi2_levels *levels)
{
	gauges->q_c_ns = aqm_of(q)->q_c_ns;
}

#endif /* AQM_CURVY_RED_BPF_H */
