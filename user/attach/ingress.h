/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --ingress: bpf_dualpi2 for what arrives at an interface. It sits at the root of an
 * ifb device that is made for it, and a tcx program sends the packets there
 * (bpf/ingress.bpf.h). What fails has put back what it changed.
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
	const struct aqm *aqm; /* of the qdisc that the ifb has; NULL: it has none of ours */
};

/* Find an interface and its ifb. */
bool ingress_find(const char *ifname, struct ingress *ingress);

/* The AQM that it is to have. */
const struct aqm *ingress_aqm(const struct ingress *ingress, const struct request *request);

/* The parameters in force on the ifb: 1; 0: it has no qdisc of ours; -errno, which is
 * reported.
 */
int ingress_live(const struct registrations *regs, const struct ingress *ingress,
		 struct dualpi2_params *in_force);

/* May what arrives be shaped as requested? */
bool ingress_allowed(const struct registrations *regs, const struct ingress *ingress,
		     const struct request *request);

/* Do it; or, where it is done already, change the parameters without loss and repair
 * what is missing. Its AQM is registered. Prints what was done. The lock is held.
 */
bool ingress_attach(const struct registrations *regs, struct ingress *ingress,
		    const struct request *request);

/* Put the interface back as it was. What waits in the ifb is delivered first. `found`: was
 * there anything of us?
 */
bool ingress_undo(const struct registrations *regs, const struct ingress *ingress, bool *found);

/* Show (report.h) whether ingress_allowed(). */
bool ingress_check(const struct registrations *regs, const struct ingress *ingress,
		   const struct request *request);

/* Remove the ifbs of interfaces that no longer exist, or that no longer feed them, but for that of
 * the interface `spared` (0: none). The lock is held.
 */
void ingress_sweep(const struct registrations *regs, __u32 spared);

#endif /* INGRESS_H */
