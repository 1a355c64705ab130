// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/changes.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/message.h"

/* What becomes of a number. */
enum fate {
	FATE_FREE, /* nobody has it */
	FATE_KEPT,
	FATE_LEFT, /* it is of somebody who goes, and then free */
};

struct comparison {
	const struct subscribers *in_force;
	struct subscribers *wanted;
	enum fate *fate; /* by number */
	uint32_t room;
	struct subscriber_changes *changes;
};

/* ---- numbers --------------------------------------------------------------------- */

/* The same name as something else is somebody else. */
static const struct subscriber *same_of(const struct subscribers *list,
					const struct subscriber *subscriber)
{
	const struct subscriber *found = subscribers_find(list, subscriber->name);

	return found && found->is_parent == subscriber->is_parent ? found : NULL;
}

static void keep_numbers(struct comparison *comparison)
{
	SUBSCRIBERS_FOR(each, comparison->in_force)
		comparison->fate[each->number] = FATE_LEFT;
	SUBSCRIBERS_FOR(each, comparison->wanted) {
		const struct subscriber *before = same_of(comparison->in_force, each);

		each->number = before ? before->number : SUBSCRIBER_NOBODY;
		each->owner = before ? before->owner : 0;
		if (before)
			comparison->fate[each->number] = FATE_KEPT;
	}
}

/* The next number behind `number` of this fate; above the room: there is none. */
static uint32_t next_number(const struct comparison *comparison, uint32_t number, enum fate fate)
{
	do
		number++;
	while (number <= comparison->room && comparison->fate[number] != fate);
	return number;
}

/* Give numbers to the new ones. Parents first: they get free ones, because those whose plan names
 * them do not wait.
 */
static bool give_numbers(struct comparison *comparison)
{
	uint32_t last = SUBSCRIBER_NOBODY;
	enum fate fate = FATE_FREE;

	for (int is_parent = true; is_parent >= false; is_parent--) {
		SUBSCRIBERS_FOR(each, comparison->wanted) {
			if (each->number || each->is_parent != is_parent)
				continue;
			last = next_number(comparison, last, fate);
			if (last > comparison->room && fate == FATE_FREE) {
				fate = FATE_LEFT;
				last = next_number(comparison, SUBSCRIBER_NOBODY, fate);
			}
			if (is_parent && fate == FATE_LEFT)
				return fail(0,
					    "%s: no room for one more parent until others are "
					    "gone: first load a file without those that go",
					    each->name);
			each->number = last;
		}
	}
	return true;
}

/* Does it get its number only when somebody else has gone? */
static bool is_late(const struct comparison *comparison, const struct subscriber *wanted)
{
	return comparison->fate[wanted->number] == FATE_LEFT;
}

/* ---- steps ----------------------------------------------------------------------- */

static void add(struct comparison *comparison, enum subscriber_change_kind kind,
		const struct subscriber *subscriber, const struct ip_prefix *prefix)
{
	struct subscriber_changes *changes = comparison->changes;

	changes->of[changes->count++] = (struct subscriber_change){ kind, subscriber, prefix };
	changes->counts[kind]++;
}

static uint32_t number_of(const struct subscriber *parent)
{
	return parent ? parent->number : SUBSCRIBER_NOBODY;
}

static bool is_same_plan(const struct subscriber_plan *a, const struct subscriber_plan *b)
{
	return a->down == b->down && a->up == b->up && number_of(a->parent) == number_of(b->parent);
}

static void add_plans(struct comparison *comparison, bool late)
{
	SUBSCRIBERS_FOR(each, comparison->wanted) {
		const struct subscriber *before;

		if (is_late(comparison, each) != late)
			continue;
		before = same_of(comparison->in_force, each);
		if (!before)
			add(comparison, SUBSCRIBER_ADDED, each, NULL);
		else if (!is_same_plan(&each->plan, &before->plan))
			add(comparison, SUBSCRIBER_CHANGED, each, NULL);
	}
}

static uint32_t owner_before(const struct comparison *comparison,
			     const struct subscriber_prefix *prefix)
{
	return number_of(subscribers_owner(comparison->in_force, &prefix->prefix));
}

static void set_prefixes(struct comparison *comparison, bool late)
{
	const struct subscribers *wanted = comparison->wanted;

	for (size_t i = 0; i < wanted->prefix_count; i++) {
		const struct subscriber_prefix *each = &wanted->prefixes[i];
		if (is_late(comparison, each->owner) == late &&
		    (late || owner_before(comparison, each) != each->owner->number))
			add(comparison, SUBSCRIBER_PREFIX_SET, each->owner, &each->prefix);
	}
}

/* Those that nobody will have, or a late one. */
static void take_prefixes_away(struct comparison *comparison)
{
	const struct subscribers *in_force = comparison->in_force;

	for (size_t i = in_force->prefix_count; i--;) {
		const struct subscriber_prefix *each = &in_force->prefixes[i];
		const struct subscriber *after =
			subscribers_owner(comparison->wanted, &each->prefix);

		if (!after || is_late(comparison, after))
			add(comparison, SUBSCRIBER_PREFIX_GONE, each->owner, &each->prefix);
	}
}

/* From the last on, so that a parent goes behind those that have it. */
static void remove_subscribers(struct comparison *comparison)
{
	for (size_t i = comparison->in_force->count; i--;) {
		const struct subscriber *each = &comparison->in_force->of[i];

		if (comparison->fate[each->number] == FATE_LEFT)
			add(comparison, SUBSCRIBER_REMOVED, each, NULL);
	}
}

static bool compare(struct comparison *comparison)
{
	keep_numbers(comparison);
	if (!give_numbers(comparison))
		return false;
	add_plans(comparison, false);
	set_prefixes(comparison, false);
	take_prefixes_away(comparison);
	remove_subscribers(comparison);
	add_plans(comparison, true);
	set_prefixes(comparison, true);
	return true;
}

bool subscribers_compare(const struct subscribers *in_force, struct subscribers *wanted,
			 uint32_t room, struct subscriber_changes *changes)
{
	const size_t most =
		in_force->count + in_force->prefix_count + wanted->count + wanted->prefix_count;
	struct comparison comparison = {
		.in_force = in_force,
		.wanted = wanted,
		.fate = calloc((size_t)room + 1, sizeof(*comparison.fate)),
		.room = room,
		.changes = changes,
	};
	bool is_compared = false;

	*changes = (struct subscriber_changes){ .of = calloc(most + 1, sizeof(*changes->of)) };
	if (!comparison.fate || !changes->of)
		fail(ENOMEM, "no memory to compare subscribers");
	else if (wanted->count > room)
		fail(0, "%zu subscribers and parents, and room for %u", wanted->count, room);
	else
		is_compared = compare(&comparison);
	free(comparison.fate);
	if (!is_compared) {
		free(changes->of);
		*changes = (struct subscriber_changes){};
	}
	return is_compared;
}
