/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface, and whether what is requested for its root can be. */
#ifndef TARGET_H
#define TARGET_H

#include "interface/feeder.h"
#include "interface/request.h"
#include "interface/tree.h"
#include "kernel/link.h"
#include "pinned/registration.h"
#include "pinned/tcx.h"

#define TARGET_LABEL_MAX 160 /* an alternative name has 127 characters */

/* An interface of this network namespace. */
struct target {
	const char *ifname;
	char label[TARGET_LABEL_MAX]; /* begins the messages about it */
	struct dualpi2_key key;	      /* of a qdisc at its root */
	const struct feeder *feeder;  /* that it gets its packets from, if it is an ifb; or NULL */
	struct tree tree;
};

/* Find an interface, or the ifb of one, and read its root. To be freed with target_free(). */
bool target_find(const char *ifname, struct target *target);
bool target_find_ifb(const struct feeder *feeder, struct target *target);
void target_free(struct target *target);

/* Behind `dualpi2-load`: says that this one is meant; for printf, and its arguments. */
#define TARGET_OPTIONS "%s%s"
#define TARGET_OPTIONS_OF(target)                                       \
	(target)->feeder ? (target)->feeder->ifname : (target)->ifname, \
		(target)->feeder ? " --ingress" : ""
#define TARGET_UNLOAD "`dualpi2-load " TARGET_OPTIONS " --unload`"

/* Freed at the end of its block; it is found first. */
#define TARGET struct target __attribute__((cleanup(target_free)))

/* The AQM that it is to have. */
const struct aqm *target_aqm(const struct target *target, const struct request *request);

/* Will it have one for each transmit queue? An mq of ours stays. */
bool target_will_be_mq(const struct target *target, const struct request *request);

/* Is another handle requested than the root has? It cannot change: another qdisc has it. */
bool target_changes_handle(const struct target *target, const struct request *request);

/* May bpf_dualpi2 be attached as requested? Not if that takes away what somebody
 * configured, unless `replace` is requested and --unload can put it back.
 */
bool target_allowed(const struct target *target, const struct request *request);

/* Show (report.h) whether target_allowed(). */
bool target_check(const struct target *target, const struct request *request);

/* Is there room for the qdiscs that an mq lacks (room_for())? */
bool target_has_room_for_queues(const struct registration *reg, const struct target *target);

/* Show (report.h) if there is none for those that are requested. */
bool target_check_room(const struct registration *reg, const struct target *target,
		       const struct link *link, const struct request *request);

/* The interface of this network namespace that has the number now: 1; 0: there is none; -errno,
 * which is reported.
 */
int target_look(const struct dualpi2_key *key, struct link *link);

/* Are the links of all our programs on an interface pinned where we look? `ours`: the programs on
 * it that look like ours. If not, the obstacle is reported (report_obstacle()).
 */
bool target_is_known(const struct registrations *regs, const char *ifname,
		     const struct tcx_ours *ours);

#endif /* TARGET_H */
