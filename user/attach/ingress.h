/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --ingress: bpf_dualpi2 for what arrives at an interface. It sits at the root of an
 * ifb device that is made for it, and a tcx program sends the packets there
 * (bpf/ingress.bpf.h). What fails has put back what it changed.
 */
#ifndef INGRESS_H
#define INGRESS_H

#include "attach/outcome.h"

/* Do it; or, where it is done already, change the parameters without loss and repair
 * what is missing. Its AQM is registered. The lock is held.
 */
bool ingress_attach(const struct registrations *regs, const char *ifname,
		    const struct request *request, struct outcome *outcome);

/* Put the interface back as it was. What waits in the ifb is delivered first. Adds to `outcome`
 * that there was something of us.
 */
bool ingress_undo(const struct registrations *regs, const char *ifname, struct outcome *outcome);

/* Remove the ifbs of interfaces that no longer exist, or that no longer feed them, but for that of
 * the interface `spared` (0: none). The lock is held.
 */
void ingress_sweep(const struct registrations *regs, __u32 spared, outcome_tell *tell);

#endif /* INGRESS_H */
