/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of a qdisc with a DualQ and a plan for each subscriber (AQM_SUBSCRIBERS): subscribers.h
 * says what is in them. They are made and filled before the qdisc is there, as those for hosts are
 * (host_maps.h), and put in once it has a number.
 *
 * Those that later calls read and write are pinned as well, beside the registration, by the number
 * of the qdisc: to open a map that only stands in another one takes CAP_SYS_ADMIN.
 */
#ifndef SUBSCRIBER_MAPS_H
#define SUBSCRIBER_MAPS_H

#include "pinned/registration.h"

struct subscriber_maps {
	/* file descriptors, or -1 */
	int prefixes, plans, names, plan_dualqs;
	int parents;	  /* of new ones only */
	int generations;  /* of the registration; -1: of new ones */
	__u32 qdisc;	  /* number of the live qdisc that has them */
	__u32 room;	  /* numbers from 1 to this */
	__u32 dualq_size; /* bytes, of a live qdisc's */
};

/* None: to be closed as well. */
#define SUBSCRIBER_MAPS_NONE                          \
	((struct subscriber_maps){ .prefixes = -1,    \
				   .plans = -1,       \
				   .names = -1,       \
				   .plan_dualqs = -1, \
				   .parents = -1,     \
				   .generations = -1 })

/* Make them, empty, with room for so many. To be closed with subscriber_maps_close(), also if that
 * fails.
 */
bool subscriber_maps_make(const struct registration *reg, __u32 room, struct subscriber_maps *maps);
void subscriber_maps_close(struct subscriber_maps *maps);

/* Put new ones where the live qdisc of this key looks for them, in the place of others. */
bool subscriber_maps_put(const struct registration *reg, const struct dualpi2_key *key,
			 const struct subscriber_maps *maps);

/* Open those of a live qdisc: 1; 0: it has not all of them; -errno, which is reported. To be
 * closed, whatever comes of it.
 */
int subscriber_maps_open(const struct registration *reg, const struct dualpi2_key *key,
			 struct subscriber_maps *maps);

/* Take away those of qdiscs that are gone. The lock is held. */
void subscriber_maps_sweep(const struct registrations *regs);

#endif /* SUBSCRIBER_MAPS_H */
