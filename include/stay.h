/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A flow stays in C: for a time, and after it until C has sent all of its packets, so that none
 * passes another on the way back to L.
 */
#ifndef DUALPI2_STAY_H
#define DUALPI2_STAY_H

#include "dualpi2.h"

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif

struct stay {
	__u64 until_ns; /* when its time ends; 0: it was never sent there */
	__u64 last_ns;	/* when its latest packet was sent there */
};

/* Does a packet that arrives now go to C? `c_head_ns`: when the packet at the head of C was
 * enqueued; 0: C is empty.
 */
static inline bool stay_lasts(const struct stay *stay, __u64 c_head_ns, __u64 now)
{
	if (!stay->until_ns)
		return false;
	return now < stay->until_ns || (c_head_ns && c_head_ns <= stay->last_ns);
}

/* From when on it may be forgotten, if that is `memory_ns` after its end or its latest packet. */
static inline __u64 stay_forgotten_ns(const struct stay *stay, __u64 memory_ns)
{
	return (stay->until_ns > stay->last_ns ? stay->until_ns : stay->last_ns) + memory_ns;
}

#endif /* DUALPI2_STAY_H */
