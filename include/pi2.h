/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control law of PI2 (RFC 9332, Appendix A; De Schepper et al., "PI2", 2016),
 * in integers and without side effects, for BPF and user space.
 *
 * p' is moved every tupdate by
 *
 *	alpha * (delay - target) + beta * (delay - last delay)
 *
 * Where updates were missed, the next one makes up for them: alpha's part counts once for each
 * period, as the integral that it is, and beta's once, as the delay has grown once.
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

/* From here on the integral alone decides, whatever beta's part (below 2^56) is. */
#define PI2_DECISIVE (1LL << 58)

/* What alpha adds in so many periods, up to 2^50. */
static inline __s64 pi2_integral(__s64 a_period, __u64 periods)
{
	const __s64 most = PI2_DECISIVE / periods;

	if (a_period > most)
		a_period = most;
	else if (a_period < -most)
		a_period = -most;
	return a_period * (__s64)periods;
}

/* The new p', at most `prob_max`, from the old one, the queue delay now and the one at the last
 * update, both in nanoseconds. `periods`: since that update, from 1 on.
 */
static inline __u32 pi2_next_prob(const struct pi2_law *law, __u32 prob, __u32 prob_max,
				  __u64 delay_ns, __u64 last_delay_ns, __u64 periods)
{
	__s64 error = pi2_clamp_delay((__s64)delay_ns - (__s64)law->target_ns);
	__s64 growth = pi2_clamp_delay((__s64)delay_ns - (__s64)last_delay_ns);
	__s64 delta = pi2_integral(error * law->alpha, periods) + growth * law->beta;

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
 *
 * An update for several periods leaves 31 / (31 + periods): more than one for each would, so that
 * p' does not fall to 0 for one calm look at the queue after a pause. Rounded up, as it is in 1/32.
 */
#define PI2_DECAY 31

static inline __u32 pi2_decay(const struct pi2_law *law, __u32 prob, __u64 delay_ns,
			      __u64 last_delay_ns, __u64 periods)
{
	__u64 calm_ns = law->target_ns / 2;

	if (delay_ns >= calm_ns || last_delay_ns >= calm_ns)
		return prob;
	return (__u32)((PI2_DECAY * (__u64)prob + PI2_DECAY - 1 + periods) / (PI2_DECAY + periods));
}

#endif /* DUALPI2_PI2_H */
