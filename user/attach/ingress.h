/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --ingress: bpf_dualpi2 for what arrives at an interface. It sits at the root of an
 * ifb device that is made for it, and a tcx program sends the packets there
 * (bpf/ingress.bpf.h).
 *
 * Functions that return bool have reported (message.h) why they return false; then
 * they have put back what they changed.
 */
#ifndef INGRESS_H
#define INGRESS_H

#include "attach/device.h"
#include "attach/target.h"

/* An interface of this network namespace, and its ifb. */
struct ingress {
	const char *ifname;
	struct dualpi2_key key; /* of the interface; parent 0 */
	uint16_t type;		/* ARPHRD_* of the interface */
	struct device ifb;
};

/* Find an interface and its ifb. `reg` need not be open. */
bool ingress_find(const struct registration *reg, const char *ifname, struct ingress *ingress);

/* May what arrives be shaped as wished? */
bool ingress_allowed(const struct registration *reg, const struct ingress *ingress,
		     const struct wish *wish);

/* Do it; or, where it is done already, change the parameters without loss and repair
 * what is missing. Prints what was done. The lock is held.
 */
bool ingress_attach(const struct registration *reg, struct ingress *ingress,
		    const struct wish *wish);

/* Put the interface back as it was. What waits in the ifb is delivered first. `found`: was
 * there anything of us?
 */
bool ingress_undo(const struct registration *reg, const struct ingress *ingress, bool *found);

/* Show (report.h) whether ingress_allowed(). */
bool ingress_check(const struct registration *reg, const struct ingress *ingress,
		   const struct wish *wish);

/* Remove the ifbs of interfaces that no longer exist. The lock is held. */
void ingress_sweep(const struct registration *reg);

#endif /* INGRESS_H */
