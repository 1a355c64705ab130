/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control law of PI2 (RFC 9332, Appendix A; De Schepper et al., "PI2", 2016),
 * in integers and without side effects, for BPF and user space.
 *
 * p' is moved every tupdate by
 *
 *	alpha * (delay - target) + beta * (delay - last delay)
 *
 * and gives the Classic probability p_C = p'^2 and the coupled probability of
 * the L queue p_CL = k * p' (RFC 9332, section 2.1).
 */
#ifndef DUALPI2_PI2_H
#define DUALPI2_PI2_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* Probability 1. One less than 2^32, so that p' fits 32 bits. */
#define PI2_PROB_MAX 0xffffffffU

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

/* A probability that none reaches, not even p_CL (up to 255 * PI2_PROB_MAX). */
#define PI2_NEVER (~0ULL)

struct pi2_law {
	__u64 target_ns;
	__u32 alpha;	/* 2^-32 per 64 ns */
	__u32 beta;	/* 2^-32 per 64 ns */
	__u64 p_cmax;	/* p_C from which on both queues drop; PI2_NEVER: they never do */
	__u64 p_lmax;	/* p_CL from which on L drops; PI2_NEVER: never */
	__u32 prob_max; /* p' goes no higher */
	__u8 coupling;	/* k */
};

/* A gain in 1/256 Hz (1..PI2_GAIN_MAX) in the unit of struct pi2_law. */
static inline __u32 pi2_scale_gain(__u32 hz256)
{
	return (__u32)(((__u64)hz256 * PI2_PROB_MAX >> (8 - PI2_GAIN_SHIFT)) / 1000000000ULL);
}

static inline __s64 pi2_clamp_delay(__s64 ns)
{
	if (ns > PI2_DELAY_MAX)
		return PI2_DELAY_MAX;
	return ns < -PI2_DELAY_MAX ? -PI2_DELAY_MAX : ns;
}

/* The new p' from the old one, the queue delay now and the one at the last
 * update, both in nanoseconds.
 */
static inline __u32 pi2_next_prob(const struct pi2_law *law, __u32 prob, __u64 delay_ns,
				  __u64 last_delay_ns)
{
	__s64 error = pi2_clamp_delay((__s64)delay_ns - (__s64)law->target_ns);
	__s64 growth = pi2_clamp_delay((__s64)delay_ns - (__s64)last_delay_ns);
	__s64 delta = error * law->alpha + growth * law->beta;

	if (prob > law->prob_max) /* that has just been lowered */
		prob = law->prob_max;
	/* Round towards 0 on both sides: an unbiased step, as in sch_dualpi2. */
	if (delta >= 0) {
		__u64 up = (__u64)delta >> PI2_GAIN_SHIFT;

		return up > law->prob_max - prob ? law->prob_max : prob + (__u32)up;
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

/* p_C = p'^2. */
static inline __u32 pi2_classic_prob(__u32 prob)
{
	return (__u32)((__u64)prob * prob >> 32);
}

/* p_CL = k * p', not yet cut to 1: above PI2_PROB_MAX it means overload. */
static inline __u64 pi2_coupled_prob(__u32 prob, __u8 coupling)
{
	return (__u64)prob * coupling;
}

/* p_C of a packet that is to be treated as Classic where L4S ones are marked with `p_l`
 * (at most PI2_PROB_MAX): equation (1) of RFC 9332, p_C = (p_L / k)^2.
 */
static inline __u32 pi2_classic_of(__u64 p_l, __u8 coupling)
{
	return pi2_classic_prob((__u32)(p_l / coupling));
}

/* Overload (RFC 9332, A.2): p_C has reached p_Cmax, or L can be marked no harder. Then
 * the queue drops with p_C, ECN-capable or not.
 */
static inline bool pi2_c_overloaded(const struct pi2_law *law, __u32 prob)
{
	return pi2_classic_prob(prob) >= law->p_cmax;
}

static inline bool pi2_l_overloaded(const struct pi2_law *law, __u32 prob)
{
	return pi2_coupled_prob(prob, law->coupling) >= law->p_lmax || pi2_c_overloaded(law, prob);
}

/* Either of them, or p' at the end of its range: the load is more than marks can tame. */
static inline bool pi2_saturated(const struct pi2_law *law, __u32 prob)
{
	return pi2_l_overloaded(law, prob) || prob >= law->prob_max;
}

/* p_Cmax: `p_cmax`, 2^-32, or if that is 0 the 1/k^2 at which p_CL is 1 (RFC 9332, A.1).
 * Not above the p_C of p' = 1, which is a little less than 1 here.
 */
static inline __u32 pi2_p_cmax(__u32 p_cmax, __u8 coupling)
{
	__u32 saturation = (PI2_PROB_MAX - 1ULL + coupling) / coupling; /* p' where p_CL is 1 */
	__u32 highest = pi2_classic_prob(PI2_PROB_MAX);

	if (!p_cmax)
		return pi2_classic_prob(saturation);
	return p_cmax < highest ? p_cmax : highest;
}

/* Set what the law says about overload. `p_cmax`: as above. `overflow`: p' ends where
 * p_CL is 1, and neither queue drops what it can mark; as native's option of that name.
 */
static inline void pi2_set_overload(struct pi2_law *law, __u8 coupling, __u32 p_cmax, bool overflow)
{
	law->coupling = coupling;
	law->prob_max = overflow ? PI2_PROB_MAX / coupling : PI2_PROB_MAX;
	law->p_lmax = overflow ? PI2_NEVER : PI2_PROB_MAX;
	law->p_cmax = overflow ? PI2_NEVER : pi2_p_cmax(p_cmax, coupling);
}

/* RFC 9332, A.1, `recur`: marks and drops come at even distances, not by dice. `count`
 * is the sum of the probabilities so far; the packet that takes it over the next whole
 * number is the one. Returns whether adding `prob` to `count` does.
 */
static inline bool pi2_recurs(__u64 count, __u64 prob)
{
	return (count + prob) >> 32 != count >> 32;
}

#endif /* DUALPI2_PI2_H */
