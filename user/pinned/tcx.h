/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our tcx programs on interfaces, each with a link that is pinned for it. */
#ifndef TCX_H
#define TCX_H

#include <stdbool.h>

#include "pinned/registration.h"
#include "pinned/tcx_link.h"

/* Where our tcx programs are attached: dualpi2_mark and dualpi2_ingress behind all others;
 * dualpi2_split before them, where there are some, so that they see a packet once.
 */
enum tcx_hook {
	TCX_EGRESS,
	TCX_INGRESS,
	TCX_SPLIT,
};

/* Is our program attached to this very interface, by the link that is pinned for it? */
int tcx_attached(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook);

/* The same; what is unknown is reported. */
int tcx_look(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook);

/* Is the interface gone that a key was made for and our program attached to: deleted, in another
 * network namespace, or ended with its own? Another one may have its number.
 */
int interface_is_gone(const struct registrations *regs, const struct dualpi2_key *key,
		      enum tcx_hook hook);

/* Is there somebody else's egress program that sees packets before dualpi2_mark does? Or will
 * there be, when that is attached? 1, 0, or -errno, which is reported.
 */
int tcx_has_others_before(const struct registration *reg, const struct dualpi2_key *key);

/* The programs on an interface that look like ours, of any registration. None without
 * CAP_SYS_ADMIN, which it takes to see any. False: they could not be looked at, which is reported.
 */
struct tcx_ours {
	__u32 ids[2 * TCX_PROGRAMS_MAX];
	size_t count;
};

bool tcx_look_for_ours(const char *ifname, struct tcx_ours *ours);

/* The first that is of none of these registrations, so that its link is pinned where we do not
 * look; 0: none is.
 */
__u32 tcx_stray(const struct registrations *regs, const struct tcx_ours *ours);

/* Attach it in its place, and pin the link. That of another AQM goes. */
bool tcx_attach(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook);

/* Detach it, of whichever AQM, and remove its pin: 1; 0: there was none; -errno, which is reported:
 * it could not be looked for.
 */
int tcx_detach(const struct dualpi2_key *key, enum tcx_hook hook);

/* Call `visit` for each egress program that is pinned for an interface, which it may detach. */
void tcx_each(const struct registrations *regs,
	      void (*visit)(const struct registrations *regs, const struct dualpi2_key *key));

#endif /* TCX_H */
