/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What dualpi2-load does, from the rights that it needs to the lock that it takes. */
#ifndef ACTIONS_H
#define ACTIONS_H

#include "attach/outcome.h"

/* Attach what is requested, or change it. */
bool actions_attach(const char *ifname, const struct requests *requests, outcome_tell *tell);

/* Take away what of us is there. `if_attached`: that there is nothing is no failure. */
bool actions_unload(const char *ifname, const struct requests *requests, bool if_attached,
		    outcome_tell *tell);

/* The same for each interface of this network namespace that has anything of us. That none has is
 * a failure unless `if_attached`.
 */
bool actions_unload_all(const struct requests *requests, bool if_attached, outcome_tell *tell);

/* Tell what is attached in this network namespace, and say what is left over there. */
bool actions_status(outcome_tell *tell);

/* Show (report.h) whether attaching would work. `ifname`: NULL: on this host. */
bool actions_check(const char *ifname, const struct requests *requests);

/* Give a subscriber or a parent another rate, bytes/s. */
bool actions_set_rate(const char *ifname, enum direction direction, const char *name, __u64 rate);

#endif /* ACTIONS_H */
