/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers in force, as the maps of a qdisc have them, in its direction: both rates of a
 * plan are the same.
 *
 * A loader may have been killed anywhere. So what it began is found as well, and never taken for
 * what a file wants: a name whose plan is another's has the rate 0, and what has no name, or one
 * that another number has in another role, is named after its number ("#7", which no file can).
 */
#ifndef IN_FORCE_H
#define IN_FORCE_H

#include "pinned/subscriber_maps.h"
#include "subscribers/changes.h"

/* Read them. subscribers_free() the list, also if that fails. Of many, most of the time goes to the
 * prefixes: in_force_read_plans() leaves them out.
 */
bool in_force_read(const struct subscriber_maps *maps, struct subscribers *list);
bool in_force_read_plans(const struct subscriber_maps *maps, struct subscribers *list);

/* Do what leads to others, in its order. If it fails, some of it is done. */
bool in_force_change(const struct subscriber_maps *maps, const struct subscriber_changes *changes);

/* Give the subscriber or parent of this name another rate, bytes/s: 1; 0: there is none of this
 * name; -errno, which is reported.
 */
int in_force_set_rate(const struct subscriber_maps *maps, const char *name, __u64 rate);

#endif /* IN_FORCE_H */
