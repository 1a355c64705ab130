/* SPDX-License-Identifier: GPL-2.0-only */
/* PI2 (RFC 9332, A.1): every tupdate p' follows the delay of the older queue head. */
#ifndef AQM_PI2_BPF_H
#define AQM_PI2_BPF_H

#include "aqm/pi2.h"
#include "coupled.bpf.h"
#include "pi2.h"

struct aqm {
	u64 last_delay_ns; /* queue delay at the last update */
};

struct aqm_law {
	struct pi2_law pi2;
};

static __always_inline bool aqm_update(struct instance *in, struct dualq *q, u64 now, u64 periods)
{
	u64 l_age = oldest_age(q, true, now), c_age = oldest_age(q, false, now);
	u32 prob_max = coupled_law_of(in)->coupling.prob_max;
	const struct pi2_law *law = &aqm_law_of(in)->pi2;
	u64 delay_ns = l_age > c_age ? l_age : c_age;
	struct aqm *aqm = aqm_of(q);
	u32 prob = pi2_next_prob(law, coupled_of(q)->prob, prob_max, delay_ns, aqm->last_delay_ns,
				 periods);

	if (is_overloaded(q))
		prob = pi2_decay(law, prob, delay_ns, aqm->last_delay_ns, periods);
	coupled_set_prob(in, q, prob);
	aqm->last_delay_ns = delay_ns;
	return coupled_is_saturated(in, q);
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return !coupled_of(q)->prob;
}

static __always_inline void aqm_params(struct instance *in)
{
	const struct aqm_params *own = aqm_own(params_of(in));

	aqm_law_of(in)->pi2 = pi2_make(own->target_ns, own->alpha, own->beta);
	coupled_params(in);
}

#define aqm_c_delay aqm_c_delay
static __always_inline u64 aqm_c_delay(const struct instance *in)
{
	return aqm_own(params_of(in))->target_ns;
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	coupled_reset(in, q);
	aqm_of(q)->last_delay_ns = 0;
}

#define aqm_gauges aqm_gauges
static __always_inline void aqm_gauges(struct instance *in, struct dualq *q,
				       struct aqm_gauges *gauges, struct dualpi2_levels *levels)
{
	gauges->delay_ns = aqm_of(q)->last_delay_ns;
}

#endif /* AQM_PI2_BPF_H */
