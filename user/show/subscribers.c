// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/subscribers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clean.h"
#include "cli/format.h"
#include "cli/message.h"
#include "sample/clock.h"
#include "sample/crowd.h"
#include "show/json.h"

#define BITS_IN_A_BYTE 8

/* What people see of it besides the sums. */
#define RECENT_NS DUALPI2_NSEC_PER_SEC

/* What is printed, and has been so far. */
struct roll {
	const struct subscribers_shown *shown;
	bool json;
	size_t qdiscs, printed;
};

/* ---- one of them --------------------------------------------------------------------- */

/* As it may be shown: somebody else may have written to the map. */
#define SHOWN_MAX CLEAN_MAX(SUBSCRIBER_NAME_SIZE)
static const char *shown(const struct subscriber *subscriber, char text[SHOWN_MAX])
{
	return clean_text(subscriber->name, text, SHOWN_MAX);
}

/* "-": there was no packet, as a parent has none of its own. */
static const char *p99_text(const struct subscriber_queue *queue, char text[FORMAT_MAX])
{
	return queue->p99_ns ? format_delay((double)queue->p99_ns, text) : "-";
}

static void print_use(const struct crowd *crowd, const struct subscriber *each)
{
	const struct subscriber_use *use = &crowd->use[each->number];
	char speed[FORMAT_MAX], l[FORMAT_MAX], c[FORMAT_MAX], marks[FORMAT_MAX], drops[FORMAT_MAX];

	printf(" %8s %7s %7s %7s %7s ", format_speed(crowd_speed(crowd, each), speed),
	       p99_text(&use->l, l), p99_text(&use->c, c),
	       format_count((double)(use->l.marks + use->c.marks), marks),
	       format_count((double)(use->l.drops + use->c.drops), drops));
}

static void print_line(const struct crowd *crowd, const struct subscriber *each,
		       const struct subscriber_prefix *prefix)
{
	const struct subscriber_prefix *const end = crowd->prefixes + crowd->list.prefix_count;
	const struct subscriber *parent = each->plan.parent;
	char rate[FORMAT_MAX], text[PREFIX_TEXT_MAX], name[SHOWN_MAX], parent_name[SHOWN_MAX];
	const char *before = "";

	printf("  %-16s %9s", shown(each, name),
	       each->plan.down ? format_rate(each->plan.down, rate) : "unlimited");
	print_use(crowd, each);
	printf(" %-12s ", each->is_parent ? "(parent)" : parent ? shown(parent, parent_name) : "-");
	if (prefix == end || prefix->owner != each)
		printf("-");
	for (; prefix < end && prefix->owner == each; prefix++, before = ",")
		printf("%s%s", before, subscriber_prefix_text(&prefix->prefix, text));
	printf("\n");
}

static struct json_object *queue_object(const struct subscriber_queue *queue)
{
	struct json_object *object = json_object_new_object(), *delay = json_object_new_object();

	json_add_uint(object, "bytes-out", queue->bytes);
	json_add_uint(object, "marks", queue->marks);
	json_add_uint(object, "drops", queue->drops);
	if (queue->p99_ns)
		json_add_uint(delay, "p99", sample_us(queue->p99_ns));
	else
		json_add(delay, "p99", NULL);
	json_add(object, "delay", delay);
	return object;
}

static struct json_object *object_of(const struct crowd *crowd, const struct subscriber *each,
				     const struct subscriber_prefix *prefix)
{
	const struct subscriber_prefix *const end = crowd->prefixes + crowd->list.prefix_count;
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
	for (; prefix < end && prefix->owner == each; prefix++)
		json_object_array_add(prefixes, json_object_new_string(subscriber_prefix_text(
							&prefix->prefix, text)));
	json_add(object, "prefixes", prefixes);
	json_add(object, "l-queue", queue_object(&crowd->use[each->number].l));
	json_add(object, "c-queue", queue_object(&crowd->use[each->number].c));
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

static void print_head(const struct crowd *crowd, bool is_one)
{
	char place[PLACE_MAX];

	if (!is_one)
		say_line("%s: subscribers and parents: %zu, room for %u",
			 sample_place(crowd->sample, place), crowd->list.count, crowd->maps.room);
	printf("  %-16s %9s %8s %7s %7s %7s %7s  %-12s %s\n", "name", "plan", "now", "P99 L",
	       "P99 C", "marks", "drops", "parent", "addresses");
}

/* Where its prefixes begin. */
static const struct subscriber_prefix *prefixes_of(const struct crowd *crowd,
						   const struct subscriber *subscriber)
{
	const struct subscriber_prefix *first = crowd->prefixes;
	size_t count = crowd->list.prefix_count, half;

	/* They are in the order of their owners, which is that of the list. */
	while (count) {
		half = count / 2;
		if (first[half].owner < subscriber) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

static void print_one(const struct crowd *crowd, const struct subscriber *each, struct roll *roll)
{
	const struct subscriber_prefix *prefix = prefixes_of(crowd, each);

	if (roll->json)
		print_object(roll, object_of(crowd, each, prefix));
	else
		print_line(crowd, each, prefix);
	roll->printed++;
}

static bool print_top(const struct crowd *crowd, struct roll *roll)
{
	const struct subscriber **sorted = crowd_by_use(crowd, roll->shown->top);

	if (!sorted)
		return false;
	for (size_t i = 0; sorted[i]; i++)
		print_one(crowd, sorted[i], roll);
	free(sorted);
	return true;
}

static bool print_crowd(const struct crowd *crowd, struct roll *roll)
{
	const char *name = roll->shown->name;
	const struct subscriber *one = name ? subscribers_find(&crowd->list, name) : NULL;

	roll->qdiscs++;
	if (name && !one)
		return true;
	if (!roll->json)
		print_head(crowd, one);
	if (one)
		print_one(crowd, one, roll);
	else if (roll->shown->top)
		return print_top(crowd, roll);
	else
		SUBSCRIBERS_FOR(each, &crowd->list)
			print_one(crowd, each, roll);
	return true;
}

static bool is_somebody_there(const struct roll *roll)
{
	if (roll->json)
		return true;
	if (!roll->qdiscs)
		return fail(0, "no qdisc here has subscribers: `dualpi2-load IFACE --subscribers "
			       "FILE` gives it some");
	return !roll->shown->name || roll->printed ||
	       fail(0, "%s: no subscriber or parent has this name", roll->shown->name);
}

/* Those of each qdisc; `*count` of them have some. */
static bool read_all(const struct registrations *regs, const struct samples *list,
		     struct crowd *crowds, size_t *count)
{
	for (size_t i = 0; i < list->count; i++) {
		const int found = crowd_read(regs, &list->items[i], &crowds[*count]);

		if (found <= 0)
			crowd_free(&crowds[*count]);
		if (found < 0)
			return false;
		*count += found;
	}
	return true;
}

static bool print_all(struct crowd *crowds, size_t count, const struct subscribers_shown *shown)
{
	struct roll roll = { .shown = shown, .json = shown->form == SUBSCRIBERS_JSON };
	bool done = true;

	if (roll.json)
		printf("[");
	for (size_t i = 0; done && i < count; i++)
		done = print_crowd(&crowds[i], &roll);
	if (roll.json)
		printf("]\n");
	return done && is_somebody_there(&roll);
}

/* With the last second. Nothing, if a signal comes before it is over. */
static bool print_recent(struct crowd *crowds, size_t count, const struct subscribers_shown *shown)
{
	enum pace_event event = PACE_DUE;
	struct pace pace;
	bool done = true;

	if (count) {
		if (!pace_start(&pace, RECENT_NS))
			return false;
		do
			event = pace_wait(&pace, -1);
		while (event == PACE_INPUT);
	}
	if (event == PACE_END)
		return true;
	for (size_t i = 0; done && i < count; i++)
		done = crowd_read_again(&crowds[i]);
	return done && print_all(crowds, count, shown);
}

static bool print_as(struct crowd *crowds, size_t count, const struct subscribers_shown *shown)
{
	switch (shown->form) {
	case SUBSCRIBERS_JSON:
		return print_all(crowds, count, shown);
	case SUBSCRIBERS_OPENMETRICS:
		return subscriber_metrics_print(crowds, count, shown->top, EXPOSITION_OPENMETRICS);
	case SUBSCRIBERS_PROMETHEUS:
		return subscriber_metrics_print(crowds, count, shown->top, EXPOSITION_PROMETHEUS);
	default:
		return print_recent(crowds, count, shown);
	}
}

bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const struct subscribers_shown *shown)
{
	struct crowd *crowds = calloc(list->count + 1, sizeof(*crowds));
	size_t count = 0;
	bool done;

	if (!crowds)
		return fail(ENOMEM, "no memory for subscribers");
	done = read_all(regs, list, crowds, &count) && print_as(crowds, count, shown);
	while (count)
		crowd_free(&crowds[--count]);
	free(crowds);
	return done;
}
