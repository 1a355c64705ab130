/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One interface's part of the registration: its entries in the maps and its tcx
 * link.
 *
 * Functions that return bool have reported (message.h) why they return false,
 * unless their comment says otherwise.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stdbool.h>

#include "pinned/registration.h"

/* The network namespace that we are in, as struct dualpi2_key has it. */
bool netns_current(__u64 *netns);

/* Is it that one? */
bool netns_is_current(__u64 netns);

/* Has a network namespace ended? False if that is not known. Reports nothing. */
bool netns_is_gone(const struct registration *reg, __u64 netns);

/* Bring the public maps up to date. Reports nothing: without it they are at most
 * one tupdate old on a busy link.
 */
void stats_refresh(const struct registration *reg);

/* Statistics of one live qdisc; false if there is none. Reports nothing. */
bool stats_read(const struct registration *reg, const struct dualpi2_key *key,
		struct dualpi2_stats *stats);

/* The same of its delays. */
bool delays_read(const struct registration *reg, const struct dualpi2_key *key,
		 struct dualpi2_delays *delays);

/* The parameters that a qdisc of this interface starts with (key.parent: any);
 * false if they are the defaults. Reports nothing.
 */
bool conf_read(const struct registration *reg, const struct dualpi2_key *key,
	       struct dualpi2_params *params);

bool conf_write(const struct registration *reg, const struct dualpi2_key *key,
		const struct dualpi2_params *params);

/* Put parameters in force on a live root qdisc. */
bool params_change(const struct registration *reg, const struct dualpi2_key *key,
		   const struct dualpi2_params *params);

/* The root qdisc that --replace took away; its kind is empty if none is remembered. */
bool prior_read(const struct registration *reg, const struct dualpi2_key *key, struct qdisc *qdisc);

bool prior_write(const struct registration *reg, const struct dualpi2_key *key,
		 const struct qdisc *qdisc);

/* The key of what is kept for an interface, from that of a qdisc on it. */
struct dualpi2_key interface_key(const struct dualpi2_key *key);

/* Does a qdisc of ours live on an interface (key.parent: any)? False only if the kernel says that
 * there is none. Reports nothing.
 */
bool instance_lives(const struct registration *reg, const struct dualpi2_key *key);

/* Where our tcx programs are attached: dualpi2_mark and dualpi2_ingress behind all others;
 * dualpi2_split before them, where there are some, so that they see a packet once.
 */
enum tcx_hook {
	TCX_EGRESS,
	TCX_INGRESS,
	TCX_SPLIT,
};

/* Is our program attached to this very interface, by the link that is pinned for it: 1, 0, or
 * -errno: unknown. Reports nothing.
 */
int tcx_attached(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook);

/* The same; what is unknown is reported. */
bool tcx_look(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook,
	      bool *attached);

/* Report that it is unknown which programs are attached, for this errno. Always false. */
bool tcx_unknown(int error);

/* Is the interface gone that a key was made for and our program attached to: deleted, in another
 * network namespace, or ended with its own? Another one may have its number. False if that is not
 * known. Reports only what the kernel does not tell.
 */
bool interface_is_gone(const struct registration *reg, const struct dualpi2_key *key,
		       enum tcx_hook hook);

/* Is there somebody else's egress program that sees packets before dualpi2_mark does? Or will
 * there be, when that is attached? 1, 0, or -errno: unknown.
 */
int tcx_has_others_before(const struct registration *reg, const struct dualpi2_key *key);

/* Attach it in its place, and pin the link. */
bool tcx_attach(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook);

/* Detach it and remove its pin. False if there was none, or, which is reported, if it could not be
 * looked for.
 */
bool tcx_detach(const struct dualpi2_key *key, enum tcx_hook hook);

/* The id of a program, by its file descriptor; 0, with errno: unknown. Reports nothing. */
__u32 program_id(int fd);

/* Forget parameters, prior qdisc and prior settings of an interface. */
void instance_forget(const struct registration *reg, const struct dualpi2_key *key);

/* Forget interfaces that no longer exist: their numbers may come again. The lock is
 * held.
 */
void tcx_sweep(const struct registration *reg);

#endif /* INSTANCE_H */
