// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/list.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clean.h"
#include "cli/message.h"
#include "cli/prefix.h"

/* ---- order ----------------------------------------------------------------------- */

/* Of subscribers, or of names alone: the name is what comes first. */
static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Of struct subscriber_prefix, or of struct ip_prefix alone: the longest first. */
static int compare_prefixes(const void *a, const void *b)
{
	const struct ip_prefix *left = a, *right = b;

	if (left->bits != right->bits)
		return left->bits > right->bits ? -1 : 1;
	return memcmp(left->address, right->address, sizeof(left->address));
}

/* ---- to make --------------------------------------------------------------------- */

/* There is room for all that may come, so that nothing moves; the kernel gives memory for what is
 * used of it.
 */
bool subscribers_begin(struct subscribers *list)
{
	*list = (struct subscribers){
		.of = malloc(SUBSCRIBERS_IN_FORCE_MAX * sizeof(*list->of)),
		.prefixes = malloc(PREFIXES_IN_FORCE_MAX * sizeof(*list->prefixes)),
	};
	return (list->of && list->prefixes) || fail(ENOMEM, "no memory for subscribers");
}

static void keep(void *element)
{
	(void)element;
}

void subscribers_free(struct subscribers *list)
{
	tdestroy(list->by_name, keep);
	tdestroy(list->by_prefix, keep);
	free(list->of);
	free(list->prefixes);
	*list = (struct subscribers){};
}

static bool is_name(const char *name)
{
	char clean[CLEAN_MAX(SUBSCRIBER_NAME_SIZE)];

	return *name && strlen(name) < SUBSCRIBER_NAME_SIZE && !strpbrk(name, " ,#") &&
	       !strcmp(clean_text(name, clean, sizeof(clean)), name);
}

struct subscriber *subscribers_enter(struct subscribers *list, const char *name, bool is_parent)
{
	struct subscriber *added = list->of + list->count;

	*added = (struct subscriber){ .is_parent = is_parent };
	snprintf(added->name, sizeof(added->name), "%s", name);
	if (tsearch(added, &list->by_name, compare_names))
		return &list->of[list->count++];
	fail(ENOMEM, "no memory for subscribers");
	return NULL;
}

struct subscriber *subscribers_add(struct subscribers *list, const char *name,
				   const struct subscriber_plan *plan, bool is_parent)
{
	struct subscriber *added = NULL;

	if (!is_name(name))
		fail(0, "%s: not a name: 1 to %d bytes of UTF-8 without blanks, commas and #",
		     *name ? name : "''", SUBSCRIBER_NAME_SIZE - 1);
	else if (subscribers_find(list, name))
		fail(0, "%s: there is one of this name already: give each a name of its own", name);
	else if (list->count == SUBSCRIBERS_MAX)
		fail(0, "%s: too many: at most %d subscribers and parents", name, SUBSCRIBERS_MAX);
	else
		added = subscribers_enter(list, name, is_parent);
	if (added)
		added->plan = *plan;
	return added;
}

void subscribers_enter_prefix(struct subscribers *list, struct subscriber *owner,
			      const struct ip_prefix *prefix)
{
	list->prefixes[list->prefix_count++] =
		(struct subscriber_prefix){ .prefix = *prefix, .owner = owner };
}

bool subscribers_add_prefix(struct subscribers *list, struct subscriber *owner,
			    const struct ip_prefix *prefix)
{
	struct subscriber_prefix *added = list->prefixes + list->prefix_count;
	struct subscriber_prefix **found;
	char text[PREFIX_TEXT_MAX];

	if (list->prefix_count == SUBSCRIBER_PREFIXES_MAX)
		return fail(0, "%s: too many prefixes: at most %d",
			    subscriber_prefix_text(prefix, text), SUBSCRIBER_PREFIXES_MAX);
	*added = (struct subscriber_prefix){ .prefix = *prefix, .owner = owner };
	found = tsearch(added, &list->by_prefix, compare_prefixes);
	if (!found)
		return fail(ENOMEM, "no memory for prefixes");
	if (*found != added)
		return fail(0, "%s: %s has it already: give it to one, once",
			    subscriber_prefix_text(prefix, text), (*found)->owner->name);
	list->prefix_count++;
	return true;
}

void subscribers_end(struct subscribers *list)
{
	tdestroy(list->by_prefix, keep);
	list->by_prefix = NULL;
	qsort(list->prefixes, list->prefix_count, sizeof(*list->prefixes), compare_prefixes);
}

void subscribers_keep_direction(struct subscribers *list, bool is_up)
{
	SUBSCRIBERS_FOR(each, list) {
		if (is_up)
			each->plan.down = each->plan.up;
		else
			each->plan.up = each->plan.down;
	}
}

/* ---- to look at ------------------------------------------------------------------ */

struct subscriber *subscribers_find(const struct subscribers *list, const char *name)
{
	struct subscriber **found = tfind(name, &list->by_name, compare_names);

	return found ? *found : NULL;
}

struct subscriber *subscribers_owner(const struct subscribers *list, const struct ip_prefix *prefix)
{
	const struct subscriber_prefix *found = NULL;

	if (list->prefix_count)
		found = bsearch(prefix, list->prefixes, list->prefix_count, sizeof(*found),
				compare_prefixes);
	return found ? found->owner : NULL;
}

const char *subscriber_prefix_text(const struct ip_prefix *prefix, char text[PREFIX_TEXT_MAX])
{
	return prefix->bits ? prefix_format(prefix, text) : strcpy(text, SUBSCRIBER_OTHERS);
}

static int compare_owners(const void *a, const void *b)
{
	const struct subscriber_prefix *left = a, *right = b;

	return ((left->owner > right->owner) - (left->owner < right->owner))
		       ?: compare_prefixes(a, b);
}

struct subscriber_prefix *subscribers_by_owner(const struct subscribers *list)
{
	const size_t count = list->prefix_count, size = sizeof(*list->prefixes);
	struct subscriber_prefix *sorted = calloc(count + 1, size);

	if (!sorted) {
		fail(ENOMEM, "no memory for prefixes");
		return NULL;
	}
	memcpy(sorted, list->prefixes, count * size);
	qsort(sorted, count, size, compare_owners);
	return sorted;
}
