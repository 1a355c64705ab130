/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of one interface or qdisc in the maps of a registration. */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>

#include "pinned/registration.h"

/* Has a network namespace ended? */
int netns_is_gone(const struct registrations *regs, __u64 netns);

/* Bring the public maps up to date. Reports nothing: without it they are at most
 * one update of the AQM old on a busy link.
 */
void stats_refresh(const struct registration *reg);

/* The same of all registrations. */
void stats_refresh_all(const struct registrations *regs);

/* Statistics of one live qdisc, if there is one. */
int stats_read(const struct registration *reg, const struct dualpi2_key *key,
	       struct dualpi2_stats *stats);

/* The same of its delays. */
int delays_read(const struct registration *reg, const struct dualpi2_key *key,
		struct dualpi2_delays *delays);

/* The values of the qdisc of this number (struct dualpi2_stats), of an AQM that has some. */
int values_read(const struct registration *reg, __u32 number, struct dualpi2_values *values);

/* The parameters that a qdisc of this interface starts with (key.parent: any); 0: the defaults,
 * `params` stays as it is.
 */
int conf_read(const struct registration *reg, const struct dualpi2_key *key,
	      struct dualpi2_params *params);

bool conf_write(const struct registration *reg, const struct dualpi2_key *key,
		const struct dualpi2_params *params);

/* Put parameters in force on a live root qdisc. */
bool params_change(const struct registration *reg, const struct dualpi2_key *key,
		   const struct dualpi2_params *params);

/* Does a qdisc of ours live on an interface (key.parent: any)? */
int instance_lives(const struct registrations *regs, const struct dualpi2_key *key);

/* Forget the parameters of an interface, in all of them or one. */
void confs_forget(const struct registrations *regs, const struct dualpi2_key *key);
void conf_forget(const struct registration *reg, const struct dualpi2_key *key);

#endif /* MAPS_H */
