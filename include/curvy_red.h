/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Curvy RED (RFC 9332, Appendix B), in integers and without side effects, for BPF and user space.
 *
 * The Classic delay above minTh, as a share of a range, is sqrt(p_C): with curviness U = 1 that is
 * p'. The probability so rises with the square of the delay, and a delay is what the load makes it,
 * not a target. For a higher U p' is its U-th power; as in equation (1) of 2.1, p_CL stays k * p'.
 */
#ifndef DUALPI2_CURVY_RED_H
#define DUALPI2_CURVY_RED_H

#include "coupling.h"

#define CURVY_RED_U_MAX 4

/* By which Classic delay L packets are marked. */
enum curvy_red_delay {
	CURVY_RED_SMOOTHED, /* Q_C */
	CURVY_RED_INSTANT,  /* that of the queue's head, as in 2015 */
};

/* From the parameters. */
struct curvy_red_law {
	__u64 min_th_ns;
	__u64 range_ns;
	__u64 scale;	/* 2^63 / range_ns */
	__u8 smoothing; /* g_C */
	__u8 curviness; /* U */
};

/* `range_ns`: 1 to 2^42. */
static inline struct curvy_red_law curvy_red_make(__u64 min_th_ns, __u64 range_ns, __u8 smoothing,
						  __u8 curviness)
{
	return (struct curvy_red_law){
		.min_th_ns = min_th_ns,
		.range_ns = range_ns,
		.scale = (1ULL << 63) / range_ns,
		.smoothing = smoothing,
		.curviness = curviness,
	};
}

/* Q_C after a packet that has waited for `delay_ns` (Figure 11, line 9), ns. */
static inline __u64 curvy_red_smooth(const struct curvy_red_law *law, __u64 q_ns, __u64 delay_ns)
{
	/* Both shifts round towards Q_C, so that it neither sinks nor rises by itself. */
	return delay_ns < q_ns ? q_ns - ((q_ns - delay_ns) >> law->smoothing)
			       : q_ns + ((delay_ns - q_ns) >> law->smoothing);
}

/* p' of a Classic delay, 2^-32. */
static inline __u32 curvy_red_prob(const struct curvy_red_law *law, __u64 delay_ns)
{
	__u64 share, power;

	if (delay_ns <= law->min_th_ns)
		return 0;
	if (delay_ns - law->min_th_ns >= law->range_ns)
		return PROB_MAX;
	share = (delay_ns - law->min_th_ns) * law->scale >> 31;
	power = share;
	for (int u = 1; u < law->curviness && u < CURVY_RED_U_MAX; u++)
		power = power * share >> 32;
	return (__u32)power;
}

#endif /* DUALPI2_CURVY_RED_H */
