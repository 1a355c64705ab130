/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which GSO packets are worth splitting. One that queues whole makes the packets behind it wait
 * for all of it; on a fast link that is too short to matter, and splitting costs the same. As
 * sch_cake, which splits none above 1 Gbit/s, but by the delay that L is to have.
 */
#ifndef DUALPI2_SPLIT_GSO_H
#define DUALPI2_SPLIT_GSO_H

#include "dualpi2.h"
#include "shaper.h"

/* What a GSO packet that queues whole may take of the threshold of the L queue: a quarter. */
#define GSO_SHARE 4

/* The delay from which on L packets are marked, ns. */
static inline __u64 gso_threshold_ns(const struct dualpi2_params *params)
{
	return params->l_aqm == DUALPI2_L_RAMP ? DUALPI2_RAMP_MIN_NS : params->step_ns;
}

/* How many bytes, as the qdisc layer counts them, a GSO packet may have and still queue whole with
 * DUALPI2_SPLIT_AUTO. `rate`: of the link, bytes/s; 0: unknown, then all are split. `frame_len`: a
 * full frame, of which `link_header` bytes are in front of the IP header; the packet is taken for
 * a sequence of such. A threshold in packets needs no rate.
 */
static inline __u64 gso_split_above(const struct dualpi2_params *params, __u64 rate,
				    __u32 frame_len, __u32 link_header)
{
	const __u32 wire_len = shaper_wire_len(params, frame_len, 1, link_header);
	unsigned __int128 bytes = rate;

	if (params->l_aqm == DUALPI2_L_STEP && params->step_in_packets)
		return (__u64)params->step_packets * frame_len / GSO_SHARE;
	bytes = bytes * gso_threshold_ns(params) * frame_len;
	bytes /= (unsigned __int128)GSO_SHARE * DUALPI2_NSEC_PER_SEC * (wire_len ?: 1);
	return bytes < UINT32_MAX ? (__u64)bytes : UINT32_MAX;
}

#endif /* DUALPI2_SPLIT_GSO_H */
