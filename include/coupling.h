/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The coupling of the queues (RFC 9332, 2.1 and A.1), in integers and without side effects, for BPF
 * and user space: what a base probability p' means to each kind of packet, and when it is overload.
 */
#ifndef DUALPI2_COUPLING_H
#define DUALPI2_COUPLING_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* Probability 1. One less than 2^32, so that p' fits 32 bits. */
#define PROB_MAX 0xffffffffU

/* A probability that none reaches, not even p_CL (up to 255 * PROB_MAX). */
#define PROB_NEVER (~0ULL)

struct coupling {
	__u64 p_cmax;	/* p_C from which on both queues drop, 2^-32; PROB_NEVER: they never do */
	__u64 p_lmax;	/* p_CL from which on L drops, 2^-32; PROB_NEVER: never */
	__u32 prob_max; /* p' goes no higher, 2^-32 */
	__u8 k;		/* coupling factor, 1..255 */
};

/* p_C = p'^2, 2^-32. */
static inline __u32 coupling_p_c(__u32 prob)
{
	return (__u32)((__u64)prob * prob >> 32);
}

/* p_CL = k * p', 2^-32, not yet cut to 1: above PROB_MAX it means overload. */
static inline __u64 coupling_p_cl(__u32 prob, __u8 k)
{
	return (__u64)prob * k;
}

/* p_C of a packet that is to be treated as Classic where L4S ones are marked with `p_l`
 * (at most PROB_MAX): equation (1) of RFC 9332, p_C = (p_L / k)^2.
 */
static inline __u32 coupling_classic_of(__u64 p_l, __u8 k)
{
	return coupling_p_c((__u32)(p_l / k));
}

/* Overload (RFC 9332, A.2): p_C has reached p_Cmax, or L can be marked no harder. Then
 * the queue drops with p_C, ECN-capable or not.
 */
static inline bool coupling_c_overloaded(const struct coupling *coupling, __u32 prob)
{
	return coupling_p_c(prob) >= coupling->p_cmax;
}

static inline bool coupling_l_overloaded(const struct coupling *coupling, __u32 prob)
{
	return coupling_p_cl(prob, coupling->k) >= coupling->p_lmax ||
	       coupling_c_overloaded(coupling, prob);
}

/* Either of them, or p' at the end of its range: the load is more than marks can tame. */
static inline bool coupling_saturated(const struct coupling *coupling, __u32 prob)
{
	return coupling_l_overloaded(coupling, prob) || prob >= coupling->prob_max;
}

/* p_Cmax: `p_cmax`, 2^-32, or if that is 0 the 1/k^2 at which p_CL is 1 (RFC 9332, A.1).
 * Not above the p_C of p' = 1, which is a little less than 1 here.
 */
static inline __u32 coupling_p_cmax(__u32 p_cmax, __u8 k)
{
	__u32 saturation = (PROB_MAX - 1ULL + k) / k; /* p' where p_CL is 1 */
	__u32 highest = coupling_p_c(PROB_MAX);

	if (!p_cmax)
		return coupling_p_c(saturation);
	return p_cmax < highest ? p_cmax : highest;
}

/* From the parameters. `overflow`: p' ends where p_CL is 1, and neither queue drops what it can
 * mark; as native's option of that name.
 */
static inline struct coupling coupling_make(__u8 k, __u32 p_cmax, bool overflow)
{
	return (struct coupling){
		.p_cmax = overflow ? PROB_NEVER : coupling_p_cmax(p_cmax, k),
		.p_lmax = overflow ? PROB_NEVER : PROB_MAX,
		.prob_max = overflow ? PROB_MAX / k : PROB_MAX,
		.k = k,
	};
}

/* RFC 9332, A.1, `recur`: marks and drops come at even distances, not by dice. `count`
 * is the sum of the probabilities so far; the packet that takes it over the next whole
 * number is the one. Returns whether adding `prob` to `count` does.
 */
static inline bool coupling_recurs(__u64 count, __u64 prob)
{
	return (count + prob) >> 32 != count >> 32;
}

#endif /* DUALPI2_COUPLING_H */
