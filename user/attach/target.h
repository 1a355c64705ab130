/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface, what is requested for it, and whether that can be. */
#ifndef TARGET_H
#define TARGET_H

#include "aqm/params.h"
#include "attach/tree.h"
#include "kernel/link.h"
#include "pinned/registration.h"
#include "pinned/tcx.h"

/* What the command line asks for. */
struct request {
	const struct option_given *params; /* of params_all() */
	const struct aqm *aqm;		   /* NULL: that of what is attached, or the default */
	__u32 handle;			   /* of the qdisc at the root; 0: any */
	bool mq;
	bool replace;
	bool whole;			     /* parameters that are not given get their defaults */
	const struct dualpi2_params *former; /* to be put back as they were; NULL: what is given */
};

/* Is a rate requested, other than 0 (not shaped)? */
bool request_has_rate(const struct request *request);

/* Put the parameters that are requested into `params`. */
bool request_apply(const struct request *request, const struct aqm *aqm,
		   struct dualpi2_params *params);

/* Parameters that are in force as another AQM takes them over: its own are its defaults. */
void request_take_over(const struct aqm *aqm, struct dualpi2_params *params);

/* Show (report.h) what may not be meant: the requested ones as they were given, and what the AQM
 * doubts of all that will be in force.
 */
void request_report(const struct request *request, const struct aqm *aqm,
		    const struct dualpi2_params *params);

/* Could they be put into the defaults of an AQM (NULL: of any)? */
bool request_fits(const struct request *request, const struct aqm *aqm);

/* An interface of this network namespace. */
struct target {
	const char *ifname;
	const char *label;	/* begins the messages about it */
	struct dualpi2_key key; /* of a qdisc at its root */
	__u32 feeder;		/* number of the interface before it, if it is an ifb; or 0 */
	bool feeder_is_bare;	/* its packets have no link header, but in the ifb */
	struct tree tree;
};

/* Find an interface and read its root. To be freed with target_free(). */
bool target_find(const char *ifname, struct target *target);
void target_free(struct target *target);

/* The AQM that it is to have. */
const struct aqm *target_aqm(const struct target *target, const struct request *request);

/* Is another handle requested than the root has? It cannot change: another qdisc has it. */
bool target_changes_handle(const struct target *target, const struct request *request);

/* May bpf_dualpi2 be attached as requested? Not if that takes away what somebody
 * configured, unless `replace` is requested and --unload can put it back.
 */
bool target_allowed(const struct target *target, const struct request *request);

/* Where nothing is said of frames: those of an ifb have a header that never was on the link. */
void target_frame(const struct target *target, struct dualpi2_params *params);

/* Show (report.h) whether target_allowed(). */
bool target_check(const struct target *target, const struct request *request);

/* How many more qdiscs of the kind there can be. */
size_t target_room(const struct registration *reg);

/* Is there room for so many more qdiscs of the kind? If not, it is said (report_obstacle()). */
bool target_has_room(const struct registration *reg, const struct target *target, size_t needed);

/* Show (report.h) if there is none for those that are requested. */
bool target_check_room(const struct registration *reg, const struct target *target,
		       const struct link *link, const struct request *request);

/* The interface of this network namespace that has the number now: 1; 0: there is none; -errno,
 * which is reported.
 */
int target_look(const struct dualpi2_key *key, struct link *link);

/* Forget what is kept for an interface (key.parent: any), but not its borrowed settings. */
void target_forget(const struct registrations *regs, const struct dualpi2_key *key);

/* Forget interfaces that no longer exist: their numbers may come again. The lock is
 * held.
 */
void targets_sweep(const struct registrations *regs);

/* Are the links of all our programs on an interface pinned where we look? `ours`: the programs on
 * it that look like ours. If not, the obstacle is reported (report_obstacle()).
 */
bool target_is_known(const struct registrations *regs, const char *ifname,
		     const struct tcx_ours *ours);

#endif /* TARGET_H */
