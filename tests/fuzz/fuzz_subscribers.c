// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of subscribers, of both formats: what is taken is in range, and printed again it is taken
 * for the same. Then from nobody, and back to nobody, each step is needed and possible.
 */
#include "fuzz.h"

#include <stdio.h>

#include "params.h"
#include "subscribers/changes.h"
#include "subscribers/file.h"
#include "subscribers/own.h"

static bool is_in_range(uint64_t rate)
{
	return rate >= DUALPI2_RATE_MIN && rate <= DUALPI2_RATE_MAX;
}

static void check(const struct subscribers *list)
{
	ALWAYS(list->count > 0 && list->count <= SUBSCRIBERS_MAX);
	SUBSCRIBERS_FOR(each, list) {
		ALWAYS(subscribers_find(list, each->name) == each);
		ALWAYS(is_in_range(each->plan.down) && is_in_range(each->plan.up));
		ALWAYS(!each->plan.parent || (each->plan.parent->is_parent &&
					      each->plan.parent < each && !each->is_parent));
	}
	for (size_t i = 0; i < list->prefix_count; i++) {
		const struct subscriber_prefix *prefix = &list->prefixes[i];

		ALWAYS(!prefix->owner->is_parent);
		ALWAYS(subscribers_owner(list, &prefix->prefix) == prefix->owner);
		ALWAYS(!i || prefix->prefix.bits <= prefix[-1].prefix.bits);
	}
}

/* In a list of such a room. */
static void apply(const struct subscribers *in_force, struct subscribers *wanted, uint32_t room,
		  size_t counts[N_SUBSCRIBER_CHANGES])
{
	struct subscriber_changes changes;

	ALWAYS(subscribers_compare(in_force, wanted, room, &changes));
	memcpy(counts, changes.counts, sizeof(changes.counts));
	free(changes.of);
}

static void check_changes(struct subscribers *list)
{
	struct subscribers nobody = {};
	const size_t parts = list->count + list->prefix_count;
	size_t counts[N_SUBSCRIBER_CHANGES];

	apply(&nobody, list, (uint32_t)list->count, counts);
	ALWAYS(counts[SUBSCRIBER_ADDED] + counts[SUBSCRIBER_PREFIX_SET] == parts);
	apply(list, &nobody, (uint32_t)list->count, counts);
	ALWAYS(counts[SUBSCRIBER_REMOVED] + counts[SUBSCRIBER_PREFIX_GONE] == parts);
}

static void check_same(const struct subscribers *list, struct subscribers *again)
{
	size_t counts[N_SUBSCRIBER_CHANGES], all = 0;

	apply(list, again, (uint32_t)list->count, counts);
	for (int kind = 0; kind < N_SUBSCRIBER_CHANGES; kind++)
		all += counts[kind];
	ALWAYS(!all && again->count == list->count && again->prefix_count == list->prefix_count);
}

static void check_print(const struct subscribers *list)
{
	struct subscribers again;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ALWAYS(file && own_print(list, file) && !fclose(file));
	ALWAYS(subscribers_parse("printed", text, size, &again));
	check_same(list, &again);
	subscribers_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct subscribers list;

	if (subscribers_parse("fuzz", text, size, &list)) {
		check(&list);
		check_changes(&list);
		check_print(&list);
		subscribers_free(&list);
	}
	free(text);
	return 0;
}
