/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --split-gso: GSO packets do not come to the qdisc as one. --auto-split-gso: only the longer
 * ones do not (split_gso.h).
 *
 *	usually		a netkit device, gso-IFACE, splits them (bpf/split.bpf.h)
 *	without netkit,	local senders are told to make none (gso_max_segs 1), or no
 *	other devices	longer ones; those that are forwarded are queued whole
 *	--ingress	the interface before the ifb does not merge what it receives
 *			(gro_max_size 1), or not to longer ones
 *	another ifb	nothing is done: GSO packets are queued whole
 *
 * What fails has put back what it changed.
 */
#ifndef GSO_H
#define GSO_H

#include "attach/outcome.h"
#include "interface/target.h"

/* Decide which of them are split, by all other parameters and the device: sets split_above. */
bool gso_decide(const struct target *target, struct dualpi2_params *params);

/* Have them split, or mend what is missing. The lock is held. */
bool gso_start(const struct registration *reg, const struct target *target,
	       const struct dualpi2_params *params);

/* What people should know about how they are split, if anything. */
struct gso_outcome gso_outcome(const struct target *target, const struct dualpi2_params *params);

/* Which ones are: " of more than 31250 bytes", or nothing, for all. In `text` (GSO_TEXT_MAX bytes),
 * which is returned.
 */
#define GSO_TEXT_MAX 48
const char *gso_which(const struct dualpi2_params *params, char *text);

/* End it, and lose nothing. */
bool gso_stop(const struct target *target);

/* Is it in force, with nothing missing: 1, 0, or -errno, which is reported. */
int gso_works(const struct registration *reg, const struct target *target);

/* Show (report.h) what gso_start() would do. */
bool gso_check(const struct target *target, const struct dualpi2_params *params);

/* Remove the devices of interfaces that have no qdisc of ours any more. The lock is held. */
void gso_sweep(const struct registrations *regs);

#endif /* GSO_H */
