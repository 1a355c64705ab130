/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --subscribers, of a qdisc that is or will be attached. */
#ifndef ATTACH_SUBSCRIBERS_H
#define ATTACH_SUBSCRIBERS_H

#include "attach/outcome.h"
#include "pinned/in_force.h"

/* What leads from those in force on a live qdisc to those that are requested. */
struct subscribers_update {
	struct subscriber_maps maps;
	struct subscribers in_force;
	struct subscriber_changes changes;
	bool is_new; /* it lacks maps, and gets these */
};

/* Maps for a new qdisc with these parameters, with subscribers in them (NULL: nobody). Of a qdisc
 * without subscribers there are none.
 */
bool subscribers_make(const struct registration *reg, struct subscribers *wanted,
		      const struct dualpi2_params *params, struct subscriber_maps *maps);

/* Put them where the qdisc is now. */
bool subscribers_put(const struct registration *reg, const struct dualpi2_key *key,
		     const struct subscriber_maps *maps);

/* Is there room for them on what is attached now, if it is of this registration and stays? If not,
 * the obstacle is reported (report_obstacle()).
 */
bool subscribers_have_room(const struct registration *reg, const struct target *target,
			   const struct subscribers *wanted);

/* Find out what is to be done on a live qdisc that will have these parameters. Changes nothing.
 */
bool subscribers_look(const struct registration *reg, const struct target *target,
		      struct subscribers *wanted, const struct dualpi2_params *params,
		      struct subscribers_update *update);

/* Do it. What fails has put back what it changed, as far as that does not fail, too. */
bool subscribers_do(const struct registration *reg, const struct target *target,
		    struct subscribers_update *update);

void subscribers_update_free(struct subscribers_update *update);
#define SUBSCRIBERS_UPDATE \
	struct subscribers_update __attribute__((cleanup(subscribers_update_free)))
#define SUBSCRIBERS_NO_UPDATE ((struct subscribers_update){ .maps = SUBSCRIBER_MAPS_NONE })

/* Those in force on a live qdisc of this key; of one without subscribers, or without maps, nobody.
 * subscribers_free() the list.
 */
bool subscribers_read_live(const struct registration *reg, const struct dualpi2_key *key,
			   struct subscribers *list);

/* It has `former` parameters: may it have these? Plans are those of a direction. If not, it is
 * reported.
 */
bool subscribers_may_change(const struct target *target, const struct request *request,
			    const struct aqm *aqm, const struct dualpi2_params *former,
			    const struct dualpi2_params *wanted);

/* --subscriber: give the one of this name another rate (bytes/s), or report that there is none.
 * The lock is held.
 */
bool subscribers_set_rate(const struct registrations *regs, const char *ifname,
			  enum direction direction, const char *name, __u64 rate);

#endif /* ATTACH_SUBSCRIBERS_H */
