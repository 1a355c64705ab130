/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both directions of an interface: what leaves it (root.h), and what arrives (ingress.h). */
#ifndef DIRECTIONS_H
#define DIRECTIONS_H

#include "attach/outcome.h"
#include "kernel/link.h"
#include "pinned/registration.h"

/* Attach what is requested, or change it. If a later step fails, both directions are as they were.
 * Registers the AQMs and then gives up the right to load: nothing else is loaded. `tell` is told of
 * each thing when it is done. The lock is held.
 */
bool directions_attach(struct registrations *regs, const char *ifname,
		       const struct requests *requests, outcome_tell *tell);

/* Put the directions that are requested back as they were. Adds to `outcome` what there was of us,
 * if anything.
 */
bool directions_unload(const struct registrations *regs, const char *ifname,
		       const struct requests *requests, struct outcome *outcome);

/* Show (report.h) whether directions_attach() would work. */
bool directions_check(const struct registrations *regs, const char *ifname, const struct link *link,
		      const struct requests *requests);

/* Take away maps of qdiscs that are gone. The lock is held. */
void directions_sweep_maps(const struct registrations *regs);

/* Remove what belongs to interfaces that are gone. The ifb of the interface `spared` stays (0:
 * none), for its own --unload.
 */
void directions_sweep(const struct registrations *regs, __u32 spared, outcome_tell *tell);

#endif /* DIRECTIONS_H */
