/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control law of PI2 (RFC 9332, Appendix A; De Schepper et al., "PI2", 2016),
 * in integers and without side effects, for BPF and user space.
 *
 * p' is moved every tupdate by
 *
 *	alpha * (delay - target) + beta * (delay - last delay)
 */
#ifndef DUALPI2_PI2_H
#define DUALPI2_PI2_H

#include "coupling.h"

/* Gains come in steps of 1/256 Hz (as sch_dualpi2's) and are kept in units of
 * 2^-32 per 64 ns, so that the smallest one is not rounded to 0:
 * gain = hz256 / 256 [1/s] * 2^32 / 1e9 [s/ns] * 64.
 */
#define PI2_GAIN_SHIFT 6
#define PI2_GAIN_MAX ((1U << 23) - 1) /* in 1/256 Hz: about 32.8 kHz */

/* Delay differences are cut to +-2^32 ns (4.3 s): with the largest gains the sum
 * of both products stays below 2^63, and p' saturates long before anyway.
 */
#define PI2_DELAY_MAX (1LL << 32)

struct pi2_law {
	__u64 target_ns;
	__u32 alpha; /* 2^-32 per 64 ns */
	__u32 beta;  /* 2^-32 per 64 ns */
};

/* A gain in 1/256 Hz (1..PI2_GAIN_MAX) in the unit of struct pi2_law. */
static inline __u32 pi2_scale_gain(__u32 hz256)
{
	return (__u32)(((__u64)hz256 * PROB_MAX >> (8 - PI2_GAIN_SHIFT)) / 1000000000ULL);
}

/* From the parameters: the gains in 1/256 Hz. */
static inline struct pi2_law pi2_make(__u64 target_ns, __u32 alpha, __u32 beta)
{
	return (struct pi2_law){
		.target_ns = target_ns,
		.alpha = pi2_scale_gain(alpha),
		.beta = pi2_scale_gain(beta),
	};
}

static inline __s64 pi2_clamp_delay(__s64 ns)
{
	if (ns > PI2_DELAY_MAX)
		return PI2_DELAY_MAX;
	return ns < -PI2_DELAY_MAX ? -PI2_DELAY_MAX : ns;
}

/* The new p', at most `prob_max`, from the old one, the queue delay now and the one at the last
 * update, both in nanoseconds.
 */
static inline __u32 pi2_next_prob(const struct pi2_law *law, __u32 prob, __u32 prob_max,
				  __u64 delay_ns, __u64 last_delay_ns)
{
	__s64 error = pi2_clamp_delay((__s64)delay_ns - (__s64)law->target_ns);
	__s64 growth = pi2_clamp_delay((__s64)delay_ns - (__s64)last_delay_ns);
	__s64 delta = error * law->alpha + growth * law->beta;

	if (prob > prob_max) /* that has just been lowered */
		prob = prob_max;
	/* Round towards 0 on both sides: an unbiased step, as in sch_dualpi2. */
	if (delta >= 0) {
		__u64 up = (__u64)delta >> PI2_GAIN_SHIFT;

		return up > prob_max - prob ? prob_max : prob + (__u32)up;
	} else {
		__u64 down = (__u64)-delta >> PI2_GAIN_SHIFT;

		return down > prob ? 0 : prob - (__u32)down;
	}
}

/* After overload: p' shrinks by 1/32 in each update that finds the congestion gone, by PIE's
 * measure (RFC 8033, 4.1: the delay and the last one below half the target). The law alone
 * takes it back by alpha * target at most, 0.15 a second with the defaults, and so would go
 * on dropping for up to 6 s. PIE's cure is the same, by 1/64 (RFC 8033, 4.2).
 */
#define PI2_DECAY_SHIFT 5

static inline __u32 pi2_decay(const struct pi2_law *law, __u32 prob, __u64 delay_ns,
			      __u64 last_delay_ns)
{
	__u64 calm_ns = law->target_ns / 2;

	if (delay_ns >= calm_ns || last_delay_ns >= calm_ns)
		return prob;
	return prob - (prob >> PI2_DECAY_SHIFT);
}

#endif /* DUALPI2_PI2_H */
