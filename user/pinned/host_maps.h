/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The DualQs for hosts (AQM_HOSTS), and which host has which: two arrays for each qdisc, in arrays
 * of maps by its number. A qdisc without them has one DualQ for all, so they are made before it is
 * there, when there may be no memory for them, and put in once it has a number. In the place of a
 * qdisc that lives they stay as they are: packets wait in them.
 *
 * Of a registration of another variant all of this is done already.
 */
#ifndef HOST_MAPS_H
#define HOST_MAPS_H

#include "pinned/registration.h"

/* File descriptors of those of one qdisc; -1: none. */
struct host_maps {
	int sets, dualqs;
};

/* Make them for so many hosts. To be closed with host_maps_close(), also if that fails. */
bool host_maps_make(const struct registration *reg, __u32 hosts, struct host_maps *maps);
void host_maps_close(struct host_maps *maps);

/* Put them where the live qdisc of this key looks for them. `keeps`: those that are there stay, as
 * packets may wait in them. Else they are a former qdisc's, and may have another size; the few
 * packets that have come to a new qdisc meanwhile are thrown away, and counted.
 */
bool host_maps_put(const struct registration *reg, const struct dualpi2_key *key,
		   const struct host_maps *maps, bool keeps);

/* Has it them? 1, 0, or -errno, which is reported. */
int host_maps_look(const struct registration *reg, const struct dualpi2_key *key);

/* Take away those of qdiscs that are gone. The lock is held. */
void host_maps_sweep(const struct registrations *regs);

#endif /* HOST_MAPS_H */
