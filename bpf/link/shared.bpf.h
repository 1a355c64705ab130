/* SPDX-License-Identifier: GPL-2.0-only */
/* One link for all qdiscs of a device, those below its mq: they are one DualQ with several queues
 * (share.h). Each qdisc holds its packets until their time on the link has come. What is of the
 * link there is once: the clocks, p' and all that the AQM knows, overload, what `limit` and
 * `memlimit` count. A qdisc has its own counters, its credit (for when both of its heads are due)
 * and its timer, and whichever timer is first makes the update.
 *
 * A packet that has its time may not be dropped any more, or that time is lost. So the AQM drops
 * packets as they arrive.
 */
#ifndef LINK_SHARED_BPF_H
#define LINK_SHARED_BPF_H

#ifndef AQM_H
#define AQM_H "aqm/pi2.bpf.h"
#endif

#include "coupled.bpf.h"
#include "dualpi2.h"
#include "link.bpf.h"
#include "share.h"
#include AQM_H

#define LINK_KIND AQM_SHARED_KIND
#define LINK_CLOCK_H "link/shared_clock.bpf.h"

struct link_clock {
	struct share_queue l, c;
	u64 l_ahead, c_ahead; /* work until the head is due; ~0: there is none */
	u64 c_start;	      /* where on V a head of C starts that had to wait; 0: none did */
	u64 looks_ns;	      /* when the watchdog looks again, if that is still to come */
	u32 epoch;	      /* of its places: share_restart() */
	u32 next;	      /* the next qdisc on the link: its number and 1; 0: none */
};

/* Where the link is in `links`, bytes. As a pointer, because the compiler knows that it stays as it
 * is where numbers are stored, and works the address out less often.
 */
struct on_link {
	const void *offset;
};

struct slot {
	u32 start; /* share_enter() */
};

#define LINK_LINE 64
#define LINK_SIZE 512

struct shared_link {
	struct share share;

	/* what every CPU reads for every packet */
	struct coupled coupled __attribute__((aligned(LINK_LINE)));
	struct aqm aqm;
	struct dualpi2_overload overload;

	/* of updates */
	u64 update_due_ns;
	u64 updates;
	u64 l_oldest_ns, c_oldest_ns; /* when the oldest heads were enqueued; 0: none waits */

	/* changed under RTNL */
	u64 device;  /* address of the struct net_device; 0: free */
	u32 members; /* qdiscs */
	u32 first;   /* of them: its number and 1 */
} __attribute__((aligned(LINK_SIZE)));

_Static_assert(sizeof(struct shared_link) == LINK_SIZE, "a mask keeps an offset within `links`");

_Static_assert(__builtin_offsetof(struct share, turn) == LINK_LINE, "what packets write is apart");

#endif /* LINK_SHARED_BPF_H */
