/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the AQM that marks a Classic one? (RFC 9331, 4.3, item 3; Briscoe and Ahmed, "TCP Prague
 * Fall-back on Detection of a Classic ECN AQM", arXiv 1911.00710, as in version 0.6 of the
 * reference.) A Classic queue varies by milliseconds and stands long, an L4S queue does neither.
 * Every virtual RTT with an AQM on the path adds to a score
 *
 *	lg(mdev / 750 us) / 2 + lg(max((srtt - min RTT) / 2 ms, 1)) / 2
 *
 * which stays between 0 and 17. From 9 on the AQM is taken for Classic, until below 8. srtt and
 * mdev are smoothed over about 2 W^1.5 and 4 W^1.5 packets. In integers, for BPF and user space.
 */
#ifndef DUALPI2_CLASSIC_ECN_H
#define DUALPI2_CLASSIC_ECN_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

#include "lg.h"

#define CLASSIC_ECN_SHIFT_MAX 18 /* of the smoothing: 2^18 packets */
#define CLASSIC_ECN_UNIT 20	 /* times are in 2^-20 us */
#define CLASSIC_ECN_POINT (1 << 16)
#define CLASSIC_ECN_L4S (8 * CLASSIC_ECN_POINT)	    /* below it is L4S for sure */
#define CLASSIC_ECN_CLASSIC (9 * CLASSIC_ECN_POINT) /* from here on it is Classic */
#define CLASSIC_ECN_MAX (17 * CLASSIC_ECN_POINT)
#define CLASSIC_ECN_VARIATION_US 750ULL
#define CLASSIC_ECN_DEPTH_US 2000ULL

struct classic_ecn {
	__u64 srtt;  /* smoothed RTT, 2^-20 us; 0: none yet */
	__u64 mdev;  /* its smoothed mean deviation, 2^-20 us */
	__s32 score; /* 2^-16 */
	__u32 is_classic;
};

/* How slowly to smooth, from the window at the last reduction, packets. */
static inline __u32 classic_ecn_shift(__u32 window)
{
	const __u32 lg = lg_floor(window | 1), shift = lg + lg / 2 + 1;

	return shift < CLASSIC_ECN_SHIFT_MAX ? shift : CLASSIC_ECN_SHIFT_MAX;
}

/* An RTT was measured. `shift`: classic_ecn_shift(). */
static inline void classic_ecn_sample(struct classic_ecn *c, __u32 rtt_us, __u32 shift)
{
	const __u64 rtt = (__u64)rtt_us << CLASSIC_ECN_UNIT;
	__u64 deviation;

	if (!c->srtt) {
		c->srtt = rtt;
		c->mdev = 1ULL << CLASSIC_ECN_UNIT;
		return;
	}
	deviation = rtt > c->srtt ? rtt - c->srtt : c->srtt - rtt;
	c->srtt = c->srtt - (c->srtt >> shift) + (rtt >> shift);
	c->mdev = c->mdev - (c->mdev >> (shift + 1)) + (deviation >> (shift + 1));
}

/* A virtual RTT ended. */
static inline void classic_ecn_round(struct classic_ecn *c, __u32 min_rtt_us)
{
	const __u64 shortest = (__u64)min_rtt_us << CLASSIC_ECN_UNIT;
	__s32 depth = 0, variation;

	if (!c->srtt || !c->mdev)
		return;
	if (c->srtt > shortest)
		depth = lg(c->srtt - shortest) - lg(CLASSIC_ECN_DEPTH_US << CLASSIC_ECN_UNIT);
	variation = lg(c->mdev) - lg(CLASSIC_ECN_VARIATION_US << CLASSIC_ECN_UNIT);
	c->score += (variation + (depth > 0 ? depth : 0)) >> 1;
	if (c->score < 0)
		c->score = 0;
	if (c->score > CLASSIC_ECN_MAX)
		c->score = CLASSIC_ECN_MAX;
	c->is_classic = c->score >= (c->is_classic ? CLASSIC_ECN_L4S : CLASSIC_ECN_CLASSIC);
}

#endif /* DUALPI2_CLASSIC_ECN_H */
