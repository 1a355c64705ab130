/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscribers of a qdisc that has a DualQ and a plan for each (plans.h): what user space writes.
 *
 * Subscribers and parents have one numbering, from 1 to SUBSCRIBERS_ROOM_MAX. SUBSCRIBER_NOBODY is
 * the first DualQ: that of addresses that nobody has, and of packets without an IP header.
 *
 * Each qdisc has these maps, which stand in arrays of maps by the number of the qdisc (the value of
 * dualpi2_live). All but the trie are arrays by number, of the same length; what is in none of them
 * is nobody's. While one is missing, all packets have the first DualQ and no plan.
 *
 *	dualpi2_prefixes	an LPM trie of struct ip_prefix with the numbers, __u32. A prefix
 *				of no bits has all that nobody else has
 *	dualpi2_plans		struct plan
 *	dualpi2_names		struct subscriber_name, for the tools alone
 *	dualpi2_parents		SUBSCRIBERS_PARENT_SIZE bytes, written by the programs: zeros at
 *				first
 *	dualpi2_plan_dualqs	struct dualq, likewise. Its types are those of the programs; it
 *				begins with a struct subscriber_use. In the place of nobody's, which
 *				is elsewhere, that is a copy, as new as the statistics of the qdisc
 *
 * User space writes the first three at any time, while packets wait, and tells nobody: a plan is in
 * force within 19 ms. A trie, and the names, may stand in several places: those of two directions.
 *
 * The programs remember whose an address is. So whoever has changed prefixes then counts up
 * dualpi2_generations, an array of __u32 by the number of the qdisc, for each that has the trie.
 *
 * Who goes loses the prefixes first, then the plan becomes zeros: what waits then leaves without a
 * limit. The number may be somebody else's at once. With another owner in its plan the DualQ begins
 * anew as soon as nothing waits in it. Only a packet that was looked up before the prefix went, and
 * is queued after it, is counted as the new one's.
 */
#ifndef DUALPI2_SUBSCRIBERS_H
#define DUALPI2_SUBSCRIBERS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "ip_prefix.h"

#define SUBSCRIBER_NOBODY 0
#define SUBSCRIBERS_ROOM_MAX 32766 /* numbers of 15 bits, but for one (PLANS_PARENTS) */

#define SUBSCRIBER_NAME_SIZE 64 /* with the NUL */

#define SUBSCRIBERS_PARENT_SIZE 56 /* of struct plans_parent (plans.h) */

/* No more than this rate. */
struct plan {
	__u64 rate;   /* bytes/s on the link; 0: no limit */
	__u32 parent; /* of a subscriber: the number of its parent; 0: none */
	__u32 owner;  /* another one whenever the number goes to somebody else; 0: nobody's */
};

/* Whose a number is. That of nobody has no name: its owner is the last that was given to anybody,
 * so that no number gets one that it has had.
 */
struct subscriber_name {
	char name[SUBSCRIBER_NAME_SIZE]; /* "": nobody's */
	__u32 owner;			 /* as in its plan */
	__u32 is_parent;		 /* 1: of a parent, which has no prefixes */
};

/* What is counted of a queue of its DualQ, but for what a link that went down has thrown away. */
struct subscriber_queue {
	__u64 bytes;  /* forwarded */
	__u64 marks;  /* packets that got CE */
	__u64 drops;  /* packets, whatever the cause */
	__u64 p99_ns; /* of the time that packets waited (p99.h); 0: there was none */
};

struct subscriber_use {
	struct subscriber_queue l, c;
	__u32 owner; /* whose all this is; another one than that of the plan: somebody else's */
	__u32 unused;
};

#endif /* DUALPI2_SUBSCRIBERS_H */
