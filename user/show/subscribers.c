// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/subscribers.h"

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

const char *subscriber_shown(const struct subscriber *subscriber, char text[SUBSCRIBER_SHOWN_MAX])
{
	if (!subscriber->number)
		return SUBSCRIBER_NOBODY_TEXT;
	return clean_text(subscriber->name, text, SUBSCRIBER_SHOWN_MAX);
}

const char *subscriber_plan_text(const struct subscriber *subscriber, char text[FORMAT_MAX])
{
	return subscriber->plan.down ? format_rate(subscriber->plan.down, text) : "unlimited";
}

const char *subscriber_parent_text(const struct subscriber *subscriber,
				   char text[SUBSCRIBER_SHOWN_MAX])
{
	const struct subscriber *parent = subscriber->plan.parent;

	return subscriber->is_parent ? "(parent)" : parent ? subscriber_shown(parent, text) : "-";
}

const char *subscriber_p99_text(const struct subscriber_queue *queue, char text[FORMAT_MAX])
{
	return queue->p99_ns ? format_delay((double)queue->p99_ns, text) : "-";
}

static void print_use(const struct crowd *crowd, const struct subscriber *each)
{
	const struct subscriber_use *use = &crowd->use[each->number];
	char speed[FORMAT_MAX], l[FORMAT_MAX], c[FORMAT_MAX], marks[FORMAT_MAX], drops[FORMAT_MAX];

	printf(" %8s %7s %7s %7s %7s ", format_speed(crowd_speed(crowd, each), speed),
	       subscriber_p99_text(&use->l, l), subscriber_p99_text(&use->c, c),
	       format_count((double)(use->l.marks + use->c.marks), marks),
	       format_count((double)(use->l.drops + use->c.drops), drops));
}

static void print_line(const struct crowd *crowd, const struct subscriber *each,
		       const struct subscriber_prefix *prefix)
{
	const struct subscriber_prefix *const end = crowd->prefixes + crowd->list.prefix_count;
	char rate[FORMAT_MAX], text[PREFIX_TEXT_MAX];
	char name[SUBSCRIBER_SHOWN_MAX], parent[SUBSCRIBER_SHOWN_MAX];
	const char *before = "";

	printf("  %-16s %9s", subscriber_shown(each, name), subscriber_plan_text(each, rate));
	print_use(crowd, each);
	printf(" %-12s ", subscriber_parent_text(each, parent));
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
	if (each->number)
		json_add_text(object, "name", each->name);
	else
		json_add(object, "name", NULL);
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

	if (!subscriber->number)
		return first + count;
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
	const struct subscriber **sorted = crowd_top(crowd, roll->shown->top);

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
	if (one) {
		print_one(crowd, one, roll);
		return true;
	}
	if (roll->shown->top)
		return print_top(crowd, roll);
	SUBSCRIBERS_FOR(each, &crowd->list)
		print_one(crowd, each, roll);
	print_one(crowd, &crowd_nobody, roll);
	return true;
}

bool subscribers_have_none(void)
{
	return fail(0, "no qdisc here has subscribers: `dualpi2-load IFACE --subscribers FILE` "
		       "gives it some");
}

static bool is_somebody_there(const struct roll *roll)
{
	if (roll->json)
		return true;
	if (!roll->qdiscs)
		return subscribers_have_none();
	return !roll->shown->name || roll->printed ||
	       fail(0, "%s: no subscriber or parent has this name", roll->shown->name);
}

static bool print_all(const struct crowds *crowds, const struct subscribers_shown *shown)
{
	struct roll roll = { .shown = shown, .json = shown->form == SUBSCRIBERS_JSON };
	bool done = true;

	if (roll.json)
		printf("[");
	for (size_t i = 0; done && i < crowds->count; i++)
		done = print_crowd(&crowds->of[i], &roll);
	if (roll.json)
		printf("]\n");
	return done && is_somebody_there(&roll);
}

/* With the last second. Nothing, if a signal comes before it is over. */
static bool print_recent(const struct registrations *regs, struct crowds *crowds,
			 const struct subscribers_shown *shown)
{
	enum pace_event event = PACE_DUE;
	struct pace pace;

	if (crowds->count) {
		if (!pace_start(&pace, RECENT_NS))
			return false;
		do
			event = pace_wait(&pace, -1);
		while (event == PACE_INPUT);
	}
	if (event == PACE_END)
		return true;
	return crowds_read_again(regs, crowds) && print_all(crowds, shown);
}

static bool print_as(const struct registrations *regs, struct crowds *crowds,
		     const struct subscribers_shown *shown)
{
	switch (shown->form) {
	case SUBSCRIBERS_JSON:
		return print_all(crowds, shown);
	case SUBSCRIBERS_OPENMETRICS:
		return subscriber_metrics_print(crowds, shown->top, EXPOSITION_OPENMETRICS);
	case SUBSCRIBERS_PROMETHEUS:
		return subscriber_metrics_print(crowds, shown->top, EXPOSITION_PROMETHEUS);
	default:
		return print_recent(regs, crowds, shown);
	}
}

bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const struct subscribers_shown *shown)
{
	struct crowds crowds;
	const bool done = crowds_read(regs, list, true, &crowds) && print_as(regs, &crowds, shown);

	crowds_free(&crowds);
	return done;
}
