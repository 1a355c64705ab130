/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The native AQM of the L queue (RFC 9332, A.1, laqm()): p'_L, the probability that an
 * L4S packet is marked with because of its own queue, in 2^-32. It is immediate,
 * not smoothed (RFC 9331, 5.2). The coupling then takes the larger of it and p_CL.
 */
#ifndef DUALPI2_LAQM_H
#define DUALPI2_LAQM_H

#include "dualpi2.h"
#include "coupling.h"

/* Th_len of RFC 9332, A.2, packets: a threshold in time marks none that finds no more in
 * the queue. On a slow link a single frame takes longer than the threshold. Then the
 * second packet of every pair would be marked, and an ACK lets out pairs even when the link
 * is half idle; so would one that waits for a packet of the C queue which is just being sent.
 */
#define LAQM_TH_LEN 1

/* p'_L of a queue that is `delay_ns` long and holds `packets`, without the packet in
 * question (as they are counted in RFC 9332, Figure 7, line 5a).
 */
static inline __u32 laqm_prob(const struct dualpi2_params *params, __u64 delay_ns, __u64 packets)
{
	__u64 above;

	if (packets < params->min_qlen_step)
		return 0;
	if (params->l_aqm == DUALPI2_L_STEP && params->step_in_packets)
		return packets > params->step_packets ? PROB_MAX : 0;
	if (packets <= LAQM_TH_LEN)
		return 0;
	if (params->l_aqm == DUALPI2_L_RAMP) {
		if (delay_ns <= DUALPI2_RAMP_MIN_NS)
			return 0;
		above = delay_ns - DUALPI2_RAMP_MIN_NS;
		if (above >= DUALPI2_RAMP_RANGE_NS)
			return PROB_MAX;
		return (__u32)(above * PROB_MAX / DUALPI2_RAMP_RANGE_NS);
	}
	return delay_ns > params->step_ns ? PROB_MAX : 0;
}

/* Above this delay, in nanoseconds, p'_L rises no more. */
static inline __u64 laqm_sure_delay(const struct dualpi2_params *params)
{
	return params->l_aqm == DUALPI2_L_RAMP ? DUALPI2_RAMP_MIN_NS + DUALPI2_RAMP_RANGE_NS
					       : params->step_ns;
}

#endif /* DUALPI2_LAQM_H */
