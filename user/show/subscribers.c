// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/subscribers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clean.h"
#include "cli/format.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/in_force.h"
#include "pinned/pin_dir.h"
#include "show/json.h"

#define BITS_IN_A_BYTE 8

/* What is printed, and has been so far. */
struct roll {
	const char *name; /* NULL: all */
	bool json;
	size_t qdiscs, printed;
};

/* Those of a qdisc. */
struct crowd {
	const struct sample *sample;
	__u32 room;
	struct subscribers list;
	struct subscriber_prefix *prefixes; /* of the list, by their owners */
};

/* 1; 0: it has none; -1: it is reported why they cannot be read. */
static int crowd_read(const struct registrations *regs, const struct sample *sample,
		      struct crowd *crowd)
{
	const struct registration *reg = registration_of(regs, sample->aqm);
	struct subscriber_maps maps;
	char place[PLACE_MAX];
	int found;

	*crowd = (struct crowd){ .sample = sample };
	if (sample->aqm->variant != AQM_SUBSCRIBERS || sample->is_sum)
		return 0;
	if (reg->names < 0) {
		fail(0, "%s: its subscribers only the owner of " PIN_DIR " may see: run it %s",
		     sample_place(sample, place),
		     privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
		return -1;
	}
	found = subscriber_maps_open(reg, &sample->key, &maps);
	crowd->room = maps.room;
	if (found > 0 && !in_force_read(&maps, &crowd->list))
		found = -1;
	subscriber_maps_close(&maps);
	if (found > 0) {
		crowd->prefixes = subscribers_by_owner(&crowd->list);
		found = crowd->prefixes ? 1 : -1;
	}
	return found;
}

static void crowd_free(struct crowd *crowd)
{
	free(crowd->prefixes);
	subscribers_free(&crowd->list);
}

/* ---- one of them --------------------------------------------------------------------- */

/* As it may be shown: somebody else may have written to the map. */
#define SHOWN_MAX CLEAN_MAX(SUBSCRIBER_NAME_SIZE)
static const char *shown(const struct subscriber *subscriber, char text[SHOWN_MAX])
{
	return clean_text(subscriber->name, text, SHOWN_MAX);
}

static void print_line(const struct subscriber *each, const struct subscriber_prefix *prefix,
		       const struct subscriber_prefix *end)
{
	const struct subscriber *parent = each->plan.parent;
	char rate[FORMAT_MAX], text[PREFIX_TEXT_MAX], name[SHOWN_MAX], parent_name[SHOWN_MAX];
	const char *before = "";

	printf("  %-24s %9s  %-16s ", shown(each, name),
	       each->plan.down ? format_rate(each->plan.down, rate) : "unlimited",
	       each->is_parent ? "(parent)"
	       : parent	       ? shown(parent, parent_name)
			       : "-");
	if (prefix == end)
		printf("-");
	for (; prefix < end; prefix++, before = ",")
		printf("%s%s", before, subscriber_prefix_text(&prefix->prefix, text));
	printf("\n");
}

static struct json_object *object_of(const struct crowd *crowd, const struct subscriber *each,
				     const struct subscriber_prefix *prefix,
				     const struct subscriber_prefix *end)
{
	struct json_object *object = json_object_new_object(), *prefixes = json_object_new_array();
	const struct subscriber *parent = each->plan.parent;
	char text[PREFIX_TEXT_MAX];

	json_add_text(object, "dev", crowd->sample->device);
	json_add_text(object, "interface", crowd->sample->ifname);
	json_add_text(object, "direction", direction_name(crowd->sample->direction));
	json_add_text(object, "name", each->name);
	json_add(object, "is-parent", json_object_new_boolean(each->is_parent));
	json_add_uint(object, "rate", each->plan.down * BITS_IN_A_BYTE);
	if (parent)
		json_add_text(object, "parent", parent->name);
	else
		json_add(object, "parent", NULL);
	for (; prefix < end; prefix++)
		json_object_array_add(prefixes, json_object_new_string(subscriber_prefix_text(
							&prefix->prefix, text)));
	json_add(object, "prefixes", prefixes);
	return object;
}

/* One after the other: there may be many. */
static void print_object(const struct roll *roll, struct json_object *object)
{
	printf("%s%s", roll->printed ? ",\n" : "",
	       json_object_to_json_string_ext(object, JSON_STYLE));
	json_object_put(object);
}

/* ---- all ------------------------------------------------------------------------------- */

static void print_head(const struct crowd *crowd)
{
	char place[PLACE_MAX];

	say_line("%s: subscribers and parents: %zu, room for %u",
		 sample_place(crowd->sample, place), crowd->list.count, crowd->room);
	printf("  %-24s %9s  %-16s %s\n", "name", "rate", "parent", "addresses");
}

static void print_crowd(const struct crowd *crowd, struct roll *roll)
{
	const struct subscriber_prefix *prefix = crowd->prefixes, *next;
	const struct subscriber_prefix *const end = prefix + crowd->list.prefix_count;

	roll->qdiscs++;
	if (!roll->json && !roll->name)
		print_head(crowd);
	SUBSCRIBERS_FOR(each, &crowd->list) {
		for (next = prefix; next < end && next->owner == each;)
			next++;
		if (!roll->name || !strcmp(roll->name, each->name)) {
			if (roll->json)
				print_object(roll, object_of(crowd, each, prefix, next));
			else
				print_line(each, prefix, next);
			roll->printed++;
		}
		prefix = next;
	}
}

static bool is_somebody_there(const struct roll *roll)
{
	if (roll->json)
		return true;
	if (!roll->qdiscs)
		return fail(0, "no qdisc here has subscribers: `dualpi2-load IFACE --subscribers "
			       "FILE` gives it some");
	return !roll->name || roll->printed ||
	       fail(0, "%s: no subscriber or parent has this name", roll->name);
}

bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const char *name, bool json)
{
	struct roll roll = { .name = name, .json = json };
	int found = 0;

	if (json)
		printf("[");
	for (size_t i = 0; found >= 0 && i < list->count; i++) {
		struct crowd crowd;

		found = crowd_read(regs, &list->items[i], &crowd);
		if (found > 0)
			print_crowd(&crowd, &roll);
		crowd_free(&crowd);
	}
	if (json)
		printf("]\n");
	return found >= 0 && is_somebody_there(&roll);
}
