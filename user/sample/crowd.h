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
	struct subscriber_prefix *prefixes; /* of the list, by their owners; NULL: not read */
	struct subscriber_use *use;	    /* by number; that of a parent is of all it has */
	__u64 time_ns;			    /* when it was read (clock.h) */
	/* The same since it was read before, and for how long that was; NULL, 0: it was not. P99 is
	 * 0 of who has forwarded nothing since.
	 */
	struct subscriber_use *recent;
	__u64 recent_ns;
};

/* Of each qdisc that has some. */
struct crowds {
	struct crowd *of;
	size_t count;
};

/* In place of a subscriber, without a name: whoever has an address that nobody has, and no IP
 * header. With it the sum is that of the qdisc.
 */
extern const struct subscriber crowd_nobody;

/* ---- to read (crowd.c) ----------------------------------------------------------- */

/* Who is in force, and what they use. `with_prefixes`: they take most of the time, if there are
 * many. crowds_free() them, also if that fails, which is reported.
 */
bool crowds_read(const struct registrations *regs, const struct samples *list, bool with_prefixes,
		 struct crowds *crowds);

/* What the same use now, and have used since they were read. */
bool crowds_read_again(const struct registrations *regs, struct crowds *crowds);

void crowds_free(struct crowds *crowds);

/* ---- to compare (crowd_use.c) ---------------------------------------------------- */

/* Add to each parent what those below it have used. */
void crowd_sum_up(const struct subscribers *list, struct subscriber_use *use);

/* `recent` of `later`: what was used since `earlier`, of the same qdisc. False: no memory, which is
 * reported.
 */
bool crowd_since(struct crowd *later, const struct crowd *earlier);

/* What somebody has used since it was read before, or else at all. */
const struct subscriber_use *crowd_use(const struct crowd *crowd,
				       const struct subscriber *subscriber);

/* Of something that was counted since it was read before: so many a second. */
double crowd_rate(const struct crowd *crowd, __u64 count);

/* What was forwarded of somebody's since then: bit/s. */
double crowd_speed(const struct crowd *crowd, const struct subscriber *subscriber);

/* What they can be sorted by: the most first, and the names from A on. */
enum crowd_order {
	CROWD_BY_SPEED,
	CROWD_BY_L_DELAY, /* P99 */
	CROWD_BY_C_DELAY,
	CROWD_BY_DROPS,
	CROWD_BY_NAME,
	N_CROWD_ORDERS,
};

/* All of them, with parents and crowd_nobody, by crowd_use(). Writes them to `sorted`, which has
 * room for one more than are in the list, and returns how many there are.
 */
size_t crowd_sort(const struct crowd *crowd, enum crowd_order order,
		  const struct subscriber **sorted);

/* The `most` of them, without parents, that have forwarded most, crowd_nobody behind them, and NULL
 * behind that: free() it. NULL: no memory, which is reported.
 */
const struct subscriber **crowd_top(const struct crowd *crowd, size_t most);

#endif /* CROWD_H */
