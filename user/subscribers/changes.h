/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What leads from the subscribers in force to those that a file wants, step by step, while packets
 * are looked up: who keeps the name keeps the number.
 *
 * Who is new gets a number that nobody has. First come the plans, then the prefixes that are new or
 * go to somebody else, the longest first. Then the prefixes that nobody will have are taken away,
 * the shortest first, and then those who go. So at each moment
 *
 *	a prefix leads to a number whose plan is written, and whose subscriber has this prefix now
 *	or afterwards
 *	each address is of whom it was before, or of whom it will be
 *
 * (the second because, when a prefix is written, all longer ones are as they will be or were, and
 * when one is taken away, those that were longer are still there).
 *
 * If there are not enough numbers, the last of the new ones get those of who goes, behind all this.
 * Of the prefixes that they take over only the first holds: these lead nowhere meanwhile.
 */
#ifndef SUBSCRIBERS_CHANGES_H
#define SUBSCRIBERS_CHANGES_H

#include "subscribers/list.h"

enum subscriber_change_kind {
	SUBSCRIBER_ADDED,   /* write its plan: nobody had the number, or nobody has it any more */
	SUBSCRIBER_CHANGED, /* write its plan: other rates or another parent */
	SUBSCRIBER_PREFIX_SET,	/* write the prefix with its number */
	SUBSCRIBER_PREFIX_GONE, /* take the prefix away */
	SUBSCRIBER_REMOVED,	/* no prefix leads to its number any more, nor is it a parent's */
	N_SUBSCRIBER_CHANGES,
};

struct subscriber_change {
	enum subscriber_change_kind kind;
	const struct subscriber *subscriber; /* as wanted; _GONE, _REMOVED: as in force */
	const struct ip_prefix *prefix;	     /* _PREFIX_SET, _GONE; else NULL */
};

/* In the order in which they are to be done. They point into both lists. */
struct subscriber_changes {
	struct subscriber_change *of; /* free() it */
	size_t count;
	size_t counts[N_SUBSCRIBER_CHANGES]; /* by kind */
};

/* `in_force` have numbers from 1 to `room`, and owners; `wanted` get theirs, but for owners of
 * those who are new. False: there is no room, which is reported.
 */
bool subscribers_compare(const struct subscribers *in_force, struct subscribers *wanted,
			 uint32_t room, struct subscriber_changes *changes);

#endif /* SUBSCRIBERS_CHANGES_H */
