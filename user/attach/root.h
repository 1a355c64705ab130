/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_dualpi2 at the root of an interface: one qdisc, or one for each transmit queue
 * under an mq. What fails has put back what it changed.
 */
#ifndef ROOT_H
#define ROOT_H

#include "attach/outcome.h"

/* The parameters in force on what is attached: 1; 0: nothing of us that takes changes; -errno,
 * which is reported.
 */
int root_live(const struct registrations *regs, const struct target *target,
	      struct dualpi2_params *in_force);

/* Make of the parameters in force, of the AQM `former` (NULL: none is), what is requested, with all
 * that follows from it on this interface. `host_side`: host_side_decide().
 */
bool root_params(const struct target *target, const struct request *request,
		 const struct aqm *former, const struct aqm *aqm, struct dualpi2_params *params,
		 const char **host_side);

/* Attach it, which is allowed; or, where it is attached already, change its parameters without loss
 * and repair what is missing; or put it in the place of another AQM's. Its AQM (target_aqm()) is
 * registered. The lock is held.
 */
bool root_attach(const struct registrations *regs, struct target *target,
		 const struct request *request, struct outcome *outcome);

/* Change the parameters of what is attached, but not those that it starts with next time. */
bool root_change(const struct registrations *regs, const struct target *target,
		 const struct dualpi2_params *params);

/* Does no packet wait in it? False as well if that cannot be seen. */
bool root_is_empty(const struct registrations *regs, const struct target *target);

#endif /* ROOT_H */
