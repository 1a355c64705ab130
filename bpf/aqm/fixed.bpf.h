/* SPDX-License-Identifier: GPL-2.0-only */
/* A constant p': what the coupling does to traffic, without a controller. */
#ifndef AQM_FIXED_BPF_H
#define AQM_FIXED_BPF_H

#include "aqm/fixed.h"
#include "coupled.bpf.h"

struct aqm {
};

struct aqm_law {
};

static __always_inline bool aqm_update(struct instance *in, struct dualq *q, u64 now, u64 periods)
{
	return coupled_is_saturated(in, q);
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return true;
}

static __always_inline void aqm_params(struct instance *in)
{
	coupled_params(in);
}

#define aqm_relaw aqm_relaw
static __always_inline void aqm_relaw(struct instance *in, struct dualq *q)
{
	coupled_set_prob(in, q, aqm_own(params_of(in))->fixed_prob);
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	coupled_reset(in, q);
	coupled_set_prob(in, q, aqm_own(params_of(in))->fixed_prob);
}

#endif /* AQM_FIXED_BPF_H */
