/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers of a qdisc, their plans and addresses, and what each of them uses. */
#ifndef CROWD_H
#define CROWD_H

#include "pinned/in_force.h"
#include "pinned/registration.h"
#include "sample/sample.h"
#include "subscribers.h"

struct crowd {
	const struct sample *sample; /* of the qdisc */
	struct subscriber_maps maps;
	struct subscribers list;
	struct subscriber_prefix *prefixes; /* of the list, by their owners */
	struct subscriber_use *use;	    /* by number; that of a parent is of all it has */
	__u64 time_ns;			    /* when it was read (clock.h) */
	/* The same when it was read before; NULL, 0: it was not. */
	struct subscriber_use *before;
	__u64 before_ns;
};

/* Who is in force, and what they use. 1; 0: the qdisc has none; -1: it is reported why they cannot
 * be read. crowd_free() it, whatever comes of it.
 */
int crowd_read(const struct registrations *regs, const struct sample *sample, struct crowd *crowd);

/* What they use now; what was read is what they used before. False: it is reported why it cannot be
 * read.
 */
bool crowd_read_again(struct crowd *crowd);

void crowd_free(struct crowd *crowd);

/* What was forwarded of somebody's since it was read before, or at all, bytes; and in bit/s, if it
 * was read before.
 */
__u64 crowd_bytes(const struct crowd *crowd, const struct subscriber *subscriber);
double crowd_speed(const struct crowd *crowd, const struct subscriber *subscriber);

/* The `most` of them, without parents, that have most of these bytes, those with more first, and
 * NULL behind the last: free() it. NULL: no memory, which is reported.
 */
const struct subscriber **crowd_by_use(const struct crowd *crowd, size_t most);

#endif /* CROWD_H */
