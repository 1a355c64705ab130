// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/in_force.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/array_map.h"

static bool refuse_memory(void)
{
	fail(ENOMEM, "no memory for subscribers");
	return false;
}

/* ---- to read --------------------------------------------------------------------- */

/* What the maps have: arrays by number. */
struct image {
	struct subscriber_name *names;
	struct plan *plans;
	struct subscriber **of; /* in the list; NULL: nobody */
	__u32 length;
};

static void image_free(struct image *image)
{
	free(image->names);
	free(image->plans);
	free(image->of);
}

static bool image_read(const struct subscriber_maps *maps, struct image *image)
{
	const __u32 length = maps->room + 1;
	int error;

	*image = (struct image){
		.names = calloc(length, sizeof(*image->names)),
		.plans = calloc(length, sizeof(*image->plans)),
		.of = calloc(length, sizeof(*image->of)),
		.length = length,
	};
	if (!image->names || !image->plans || !image->of)
		return refuse_memory();
	error = array_map_read(maps->names, length, image->names)
			?: array_map_read(maps->plans, length, image->plans);
	for (__u32 number = 0; number < length; number++)
		image->names[number].name[SUBSCRIBER_NAME_SIZE - 1] = '\0';
	return expect_known(error, "the plans of subscribers") >= 0;
}

static bool enter(struct image *image, __u32 number, struct subscribers *list)
{
	const struct subscriber_name *name = &image->names[number];
	char by_number[SUBSCRIBER_NAME_SIZE];
	struct subscriber *entered;

	snprintf(by_number, sizeof(by_number), "#%u", number);
	if (name->name[0] && !subscribers_find(list, name->name))
		entered = subscribers_enter(list, name->name, name->is_parent);
	else
		entered = subscribers_enter(list, by_number, name->is_parent);
	if (!entered)
		return false;
	entered->number = number;
	entered->owner = name->owner;
	image->of[number] = entered;
	return true;
}

/* Parents come before those that have them. */
static bool enter_all(struct image *image, struct subscribers *list)
{
	for (int is_parent = true; is_parent >= false; is_parent--) {
		for (__u32 number = 1; number < image->length; number++) {
			if (image->names[number].name[0] &&
			    !image->names[number].is_parent == !is_parent &&
			    !enter(image, number, list))
				return false;
		}
	}
	return true;
}

/* If it is that of whoever has the name. */
static void take_plan(const struct image *image, struct subscriber *subscriber)
{
	const struct plan *plan = &image->plans[subscriber->number];
	const struct subscriber *parent =
		plan->parent < image->length ? image->of[plan->parent] : NULL;

	if (plan->owner != subscriber->owner || (plan->parent && !parent))
		return;
	subscriber->plan = (struct subscriber_plan){ plan->rate, plan->rate, parent };
}

/* ---- prefixes -------------------------------------------------------------------- */

struct trie {
	struct ip_prefix *prefixes;
	__u32 *numbers;
	__u32 count;
};

static void trie_free(struct trie *trie)
{
	free(trie->prefixes);
	free(trie->numbers);
}

/* The kernel gives memory for what is used of it. */
static bool trie_read(const struct subscriber_maps *maps, struct trie *trie)
{
	struct ip_prefix next;
	int error;

	*trie = (struct trie){
		.prefixes = malloc(PREFIXES_IN_FORCE_MAX * sizeof(*trie->prefixes)),
		.numbers = malloc(PREFIXES_IN_FORCE_MAX * sizeof(*trie->numbers)),
		.count = PREFIXES_IN_FORCE_MAX,
	};
	if (!trie->prefixes || !trie->numbers)
		return refuse_memory();
	error = bpf_map_lookup_batch(maps->prefixes, NULL, &next, trie->prefixes, trie->numbers,
				     &trie->count, NULL);
	return error == -ENOENT || /* that is their end */
	       expect_known(error, "the addresses of subscribers") >= 0;
}

/* One of a number that nobody can have leads to the first DualQ, as none would. */
static bool enter_prefixes(struct image *image, const struct trie *trie, struct subscribers *list)
{
	for (__u32 i = 0; i < trie->count; i++) {
		const __u32 number = trie->numbers[i];

		if (number == SUBSCRIBER_NOBODY || number >= image->length)
			continue;
		if (!image->of[number] && !enter(image, number, list))
			return false;
		subscribers_enter_prefix(list, image->of[number], &trie->prefixes[i]);
	}
	return true;
}

static bool read_prefixes(const struct subscriber_maps *maps, struct image *image,
			  struct subscribers *list)
{
	struct trie trie;
	const bool is_read = trie_read(maps, &trie) && enter_prefixes(image, &trie, list);

	trie_free(&trie);
	return is_read;
}

/* ---- all ------------------------------------------------------------------------- */

static bool read_plans(const struct subscriber_maps *maps, struct image *image,
		       struct subscribers *list)
{
	*list = (struct subscribers){};
	if (!image_read(maps, image) || !subscribers_begin(list) || !enter_all(image, list))
		return false;
	SUBSCRIBERS_FOR(each, list)
		take_plan(image, each);
	return true;
}

bool in_force_read_plans(const struct subscriber_maps *maps, struct subscribers *list)
{
	struct image image;
	const bool is_read = read_plans(maps, &image, list);

	image_free(&image);
	return is_read;
}

bool in_force_read(const struct subscriber_maps *maps, struct subscribers *list)
{
	struct image image;
	const bool is_read = read_plans(maps, &image, list) && read_prefixes(maps, &image, list);

	if (is_read)
		subscribers_end(list);
	image_free(&image);
	return is_read;
}

/* ---- to change ------------------------------------------------------------------- */

/* Of the largest, bytes. */
#define KEY_MOST sizeof(struct ip_prefix)
#define VALUE_MOST sizeof(struct subscriber_name)

/* A step, made of changes that follow each other, is one or two calls for all of them: 0, or
 * -errno.
 */
struct writer {
	const struct subscriber_maps *maps;
	__u32 owner; /* the last that was given to somebody */
	/* What one call takes: numbers or prefixes, and what belongs to them. */
	__u32 count;
	void *keys, *values;
};

static void add_number(struct writer *writer, const struct subscriber *subscriber)
{
	__u32 *numbers = writer->keys;

	numbers[writer->count++] = subscriber->number;
}

static void add_prefix(struct writer *writer, const struct ip_prefix *prefix)
{
	struct ip_prefix *prefixes = writer->keys;

	prefixes[writer->count++] = *prefix;
}

static int update(struct writer *writer, int map)
{
	__u32 count = writer->count;

	return count ? bpf_map_update_batch(map, writer->keys, writer->values, &count, NULL) : 0;
}

/* In the name of nobody (subscribers.h). */
static int read_owner(struct writer *writer)
{
	const __u32 nobody = SUBSCRIBER_NOBODY;
	struct subscriber_name name;

	if (bpf_map_lookup_elem(writer->maps->names, &nobody, &name))
		return -errno;
	writer->owner = name.owner;
	return 0;
}

static int write_owner(const struct writer *writer)
{
	const __u32 nobody = SUBSCRIBER_NOBODY;
	const struct subscriber_name name = { .owner = writer->owner };

	return bpf_map_update_elem(writer->maps->names, &nobody, &name, BPF_ANY) ? -errno : 0;
}

static void add_name(struct writer *writer, struct subscriber *subscriber)
{
	struct subscriber_name *name = (struct subscriber_name *)writer->values + writer->count;

	if (!++writer->owner)
		writer->owner = 1;
	subscriber->owner = writer->owner;
	*name = (struct subscriber_name){
		.owner = subscriber->owner,
		.is_parent = subscriber->is_parent,
	};
	memcpy(name->name, subscriber->name, sizeof(name->name));
	add_number(writer, subscriber);
}

static void add_plan(struct writer *writer, const struct subscriber *subscriber)
{
	const struct subscriber *parent = subscriber->plan.parent;
	struct plan *plans = writer->values;

	plans[writer->count] = (struct plan){
		.rate = subscriber->plan.down,
		.parent = parent ? parent->number : SUBSCRIBER_NOBODY,
		.owner = subscriber->owner,
	};
	add_number(writer, subscriber);
}

/* The names first: a number with a name and another's plan is found (take_plan()), one with a plan
 * alone would be nobody's.
 */
static int write_plans(struct writer *writer, const struct subscriber_change *from,
		       const struct subscriber_change *end)
{
	const __u32 before = writer->owner;
	int error = 0;

	writer->count = 0;
	for (const struct subscriber_change *each = from; each < end; each++) {
		if (each->kind == SUBSCRIBER_ADDED)
			add_name(writer, (struct subscriber *)each->subscriber);
	}
	if (writer->owner != before)
		error = write_owner(writer);
	error = error ?: update(writer, writer->maps->names);
	writer->count = 0;
	for (const struct subscriber_change *each = from; each < end; each++)
		add_plan(writer, each->subscriber);
	return error ?: update(writer, writer->maps->plans);
}

static int set_prefixes(struct writer *writer, const struct subscriber_change *from,
			const struct subscriber_change *end)
{
	__u32 *owners = writer->values;

	writer->count = 0;
	for (; from < end; from++) {
		owners[writer->count] = from->subscriber->number;
		add_prefix(writer, from->prefix);
	}
	return update(writer, writer->maps->prefixes);
}

static int take_prefixes_away(struct writer *writer, const struct subscriber_change *from,
			      const struct subscriber_change *end)
{
	for (writer->count = 0; from < end; from++)
		add_prefix(writer, from->prefix);
	return bpf_map_delete_batch(writer->maps->prefixes, writer->keys, &writer->count, NULL);
}

/* The names last, as they tell who was to go. */
static int remove_all(struct writer *writer, const struct subscriber_change *from,
		      const struct subscriber_change *end)
{
	for (writer->count = 0; from < end; from++)
		add_number(writer, from->subscriber);
	memset(writer->values, 0, writer->count * VALUE_MOST);
	return update(writer, writer->maps->plans) ?: update(writer, writer->maps->names);
}

typedef int write_step(struct writer *writer, const struct subscriber_change *from,
		       const struct subscriber_change *end);

static write_step *const steps[N_SUBSCRIBER_CHANGES] = {
	[SUBSCRIBER_ADDED] = write_plans,	[SUBSCRIBER_CHANGED] = write_plans,
	[SUBSCRIBER_PREFIX_SET] = set_prefixes, [SUBSCRIBER_PREFIX_GONE] = take_prefixes_away,
	[SUBSCRIBER_REMOVED] = remove_all,
};

/* The programs look up anew whose an address is. */
static int count_generation(const struct subscriber_maps *maps)
{
	__u32 generation;

	if (maps->generations < 0)
		return 0;
	if (bpf_map_lookup_elem(maps->generations, &maps->qdisc, &generation))
		return -errno;
	generation++;
	return bpf_map_update_elem(maps->generations, &maps->qdisc, &generation, BPF_ANY) ? -errno
											  : 0;
}

/* The generation counts behind each step, and if there is none, too: who was killed may not have
 * done it.
 */
static int write_all(struct writer *writer, const struct subscriber_changes *changes)
{
	const struct subscriber_change *const end = changes->of + changes->count;
	const struct subscriber_change *from = changes->of, *next;
	int error = read_owner(writer);

	if (from == end)
		return error ?: count_generation(writer->maps);
	for (; !error && from < end; from = next) {
		next = from;
		while (next < end && steps[next->kind] == steps[from->kind])
			next++;
		error = steps[from->kind](writer, from, next) ?: count_generation(writer->maps);
	}
	return error;
}

bool in_force_change(const struct subscriber_maps *maps, const struct subscriber_changes *changes)
{
	struct writer writer = {
		.maps = maps,
		.keys = calloc(changes->count + 1, KEY_MOST),
		.values = calloc(changes->count + 1, VALUE_MOST),
	};
	int error = -ENOMEM;

	if (writer.keys && writer.values)
		error = write_all(&writer, changes);
	free(writer.keys);
	free(writer.values);
	if (error == -ENOSPC)
		return fail(0, "too many addresses until others are gone: first load a file "
			       "without those that go");
	return !error ||
	       fail(-error, "the kernel refuses to take subscribers: %s", strerror(-error));
}

int in_force_set_rate(const struct subscriber_maps *maps, const char *name, __u64 rate)
{
	struct image image;
	int found = image_read(maps, &image) ? 0 : -ENOMEM;

	for (__u32 number = 1; !found && number < image.length; number++) {
		struct plan *plan = &image.plans[number];

		if (strcmp(image.names[number].name, name) ||
		    plan->owner != image.names[number].owner)
			continue;
		plan->rate = rate;
		found = 1;
		if (bpf_map_update_elem(maps->plans, &number, plan, BPF_ANY))
			found = -errno;
		if (found < 0)
			fail(-found, "the kernel refuses to change a plan: %s", strerror(-found));
	}
	image_free(&image);
	return found;
}
