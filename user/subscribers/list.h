/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscribers with their plans and addresses: those that a file wants (file.h), or those in force.
 *
 * A subscriber is known by its name. A parent is one without addresses: a site or an access point,
 * whose rate those below it share. It has no parent itself, and comes before all that it has.
 *
 * An address is of the longest prefix that holds it, so that a prefix may lie within another
 * subscriber's. That of no bits holds the addresses that nobody else has.
 */
#ifndef SUBSCRIBERS_LIST_H
#define SUBSCRIBERS_LIST_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/prefix.h"
#include "subscribers.h"

/* Of a file. */
#define SUBSCRIBERS_MAX 16384	       /* with parents */
#define SUBSCRIBER_PREFIXES_MAX 163840 /* of all: ten each */

/* Of those in force, which are those of two files while one follows the other. */
#define SUBSCRIBERS_IN_FORCE_MAX SUBSCRIBERS_ROOM_MAX
#define PREFIXES_IN_FORCE_MAX (2 * SUBSCRIBER_PREFIXES_MAX)

#define SUBSCRIBER_OTHERS "*" /* the prefix of no bits, as text */

struct subscriber_plan {
	uint64_t down, up;		 /* bytes/s: DUALPI2_RATE_MIN to DUALPI2_RATE_MAX */
	const struct subscriber *parent; /* of the same list; NULL: none */
};

struct subscriber {
	char name[SUBSCRIBER_NAME_SIZE]; /* UTF-8 that can be printed, without blanks, ',' and '#'
					  */
	struct subscriber_plan plan;
	bool is_parent;
	uint32_t number; /* in the maps, from 1 on; SUBSCRIBER_NOBODY: has none yet (changes.h) */
	uint32_t owner;	 /* in the maps (struct plan); 0: none yet */
};

struct subscriber_prefix {
	struct ip_prefix prefix;
	struct subscriber *owner;
};

/* All zero: nobody, and no room for anybody. */
struct subscribers {
	struct subscriber *of; /* as they were added; they stay where they are */
	size_t count;
	struct subscriber_prefix *prefixes; /* from subscribers_end() on: the longest first */
	size_t prefix_count;
	void *by_name, *by_prefix; /* tsearch(3); the latter until subscribers_end() */
};

#define SUBSCRIBERS_FOR(each, list)                                                           \
	for (struct subscriber *each = (list)->of; each && each < (list)->of + (list)->count; \
	     each++)

/* An empty list. subscribers_free() it, also if that fails, which is reported. */
bool subscribers_begin(struct subscribers *list);
void subscribers_free(struct subscribers *list);

/* Freed at the end of its block. */
#define SUBSCRIBERS struct subscribers __attribute__((cleanup(subscribers_free)))

/* A subscriber without addresses so far, or a parent. NULL: it was reported why it cannot be. */
struct subscriber *subscribers_add(struct subscribers *list, const char *name,
				   const struct subscriber_plan *plan, bool is_parent);

/* Give it one more prefix. False: it was reported why it cannot be. */
bool subscribers_add_prefix(struct subscribers *list, struct subscriber *owner,
			    const struct ip_prefix *prefix);

/* The same of what is in force, of which nothing is checked: no two have the same name or prefix,
 * and there are no more than can be. NULL: no memory, which is reported.
 */
struct subscriber *subscribers_enter(struct subscribers *list, const char *name, bool is_parent);
void subscribers_enter_prefix(struct subscribers *list, struct subscriber *owner,
			      const struct ip_prefix *prefix);

/* That was the last one. */
void subscribers_end(struct subscribers *list);

/* Only one direction counts: each has its rate in the other one, too. */
void subscribers_keep_direction(struct subscribers *list, bool is_up);

/* NULL: there is none of this name. */
struct subscriber *subscribers_find(const struct subscribers *list, const char *name);

/* Who has just this prefix; NULL: nobody. After subscribers_end(). */
struct subscriber *subscribers_owner(const struct subscribers *list,
				     const struct ip_prefix *prefix);

/* The prefixes in another order: by owners, as these follow each other. free() them; NULL: no
 * memory, which is reported.
 */
struct subscriber_prefix *subscribers_by_owner(const struct subscribers *list);

/* "192.0.2.0/24", or SUBSCRIBER_OTHERS. Writes to `text` and returns it. */
const char *subscriber_prefix_text(const struct ip_prefix *prefix, char text[PREFIX_TEXT_MAX]);

#endif /* SUBSCRIBERS_LIST_H */
