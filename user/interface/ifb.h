/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ifb devices that --ingress has made (ingress.h): whose incoming traffic passes which. */
#ifndef IFB_H
#define IFB_H

#include "interface/device.h"

enum ifb_state {
	IFB_WHOLE,
	IFB_UNFINISHED, /* dualpi2-load was interrupted: nothing comes here, or no qdisc is here */
	IFB_CUT_OFF,	/* its interface is gone, or somebody detached our program from it */
	IFB_ORPHANED,	/* its interface is gone: no interface has its number */
};

struct ifb {
	__u32 ifindex;
	char name[IF_NAMESIZE];
	__u32 interface;	  /* number of that whose incoming traffic it takes, or took */
	char ifname[IF_NAMESIZE]; /* of that; of the ifb itself if that is or may be gone */
	enum ifb_state state;
};

/* All of this network namespace. */
struct ifbs {
	struct ifb of[DUALPI2_MAX_INSTANCES];
	size_t count;
};

/* Read them. False: it is reported why they cannot be seen. Without the right to read the ledger
 * their aliases tell, and not whether they are finished.
 */
bool ifbs_read(const struct registrations *regs, struct ifbs *ifbs);

/* The one with this number; NULL: it is none. */
const struct ifb *ifbs_find(const struct ifbs *ifbs, __u32 ifindex);

/* Does it take the incoming traffic of the interface with this number? */
bool ifb_belongs_to(const struct ifb *ifb, __u32 interface);

#endif /* IFB_H */
