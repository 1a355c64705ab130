/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is remembered of a conviction (guard.h), for who may read the pins. */
#ifndef DUALPI2_CONVICTION_H
#define DUALPI2_CONVICTION_H

#include "dualpi2.h"
#include "flow_name.h"

/* That are kept, by each AQM; a power of two. */
#define DUALPI2_CONVICTIONS 256

/* Value of the map dualpi2_convictions: the latest, each in the place of its number modulo
 * DUALPI2_CONVICTIONS, as those of dualpi2_events are. One whose numbers differ is being written.
 */
struct dualpi2_conviction {
	__u64 number;		/* from 1 on, of all that this AQM has seen; written last */
	struct dualpi2_key key; /* the qdisc */
	__u64 since_ns;		/* when that started (struct dualpi2_stats) */
	__u64 start_ns;		/* when the flow was convicted */
	__u64 until_ns;		/* when its term ends */
	__u64 l_ns;		/* how long L was then, ns (l_length() of guard.bpf.h) */
	__u32 term;		/* which one of this flow, from 1 on, of those that still count */
	__u32 flow;		/* the id that dualpi2_flows has, not 0 */
	__u32 netns;		/* inode of the network namespace, as people know it (lsns) */
	char ifname[16];	/* as in struct dualpi2_stats */
	struct flow_name name;	/* by the packet that was too much */
	__u32 c_us;		/* how long C was, us, if it took the link from C; 0: L was long */
	__u64 begun;		/* the same as `number`; written first */
};

_Static_assert(sizeof(struct dualpi2_conviction) ==
		       __builtin_offsetof(struct dualpi2_conviction, begun) + sizeof(__u64),
	       "who reads it finds `begun` at the end");

#endif /* DUALPI2_CONVICTION_H */
