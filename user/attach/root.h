/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_dualpi2 at the root of an interface: one qdisc, or one for each transmit queue
 * under an mq. What fails has put back what it changed.
 */
#ifndef ROOT_H
#define ROOT_H

#include "interface/target.h"

/* The parameters in force on what is attached: 1; 0: nothing of us that takes changes; -errno,
 * which is reported.
 */
int root_live(const struct registrations *regs, const struct target *target,
	      struct dualpi2_params *in_force);

/* Attach it, which is allowed; or, where it is attached already, change its parameters without loss
 * and repair what is missing; or put it in the place of another AQM's. Its AQM (target_aqm()) is
 * registered. Prints what was done. The lock is held.
 */
bool root_attach(const struct registrations *regs, struct target *target,
		 const struct request *request);

/* Put the interface back as it was. `found`: was there anything of us? */
bool root_undo(const struct registrations *regs, struct target *target, bool *found);

/* Forget what is kept for an interface (key.parent: any), but not its borrowed settings. */
void root_forget(const struct registrations *regs, const struct dualpi2_key *key);

/* Forget interfaces that no longer exist: their numbers may come again. The lock is held. */
void root_sweep(const struct registrations *regs);

#endif /* ROOT_H */
