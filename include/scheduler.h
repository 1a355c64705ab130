/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which queue is served next: L first, but Classic is never starved.
 *
 * RFC 9332, 4.2.2 asks for a priority of the L queue that is bounded. As in
 * sch_dualpi2 this is a weighted round robin with one signed credit: while both
 * queues hold packets, each byte served from L adds wc to it and each byte
 * served from C takes wl away (wc + wl = 100 %). C is served while the credit is
 * positive. So C gets wc % of a link that both want, in any long interval.
 */
#ifndef DUALPI2_SCHEDULER_H
#define DUALPI2_SCHEDULER_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* The frame length in scheduler_reset() is cut to this, so that the credit
 * cannot overflow 32 bits (as in sch_dualpi2).
 */
#define SCHEDULER_FRAME_MAX (1 << 20)

/* The credit to start with: one full frame in favour of the queue with the larger
 * weight, so L starts when wc < 50. `frame_len`: MTU + link header, bytes.
 */
static inline __s32 scheduler_reset(__u8 classic_protection, __u32 frame_len)
{
	__s32 frame = frame_len < SCHEDULER_FRAME_MAX ? (__s32)frame_len : SCHEDULER_FRAME_MAX;

	return frame * (2 * (__s32)classic_protection - 100);
}

/* True: the next packet comes from L. At least one queue holds a packet. */
static inline bool scheduler_serves_l(__s32 credit, bool l_waits, bool c_waits)
{
	return l_waits && (!c_waits || credit <= 0);
}

/* The credit after `len` bytes were served from a queue while the other one was
 * waiting. A packet served alone costs nothing.
 */
static inline __s32 scheduler_charge(__s32 credit, __u8 classic_protection, bool from_l, __u32 len)
{
	if (from_l)
		return credit + (__s32)len * classic_protection;
	return credit - (__s32)len * (100 - classic_protection);
}

#endif /* DUALPI2_SCHEDULER_H */
