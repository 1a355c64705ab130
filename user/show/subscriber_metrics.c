// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A time series for each subscriber and queue is many of them, so there is a bound: those that use
 * most. They are taken by all that they have used, so that they do not change from one minute to
 * the next. Nobody's addresses have no name, and no plan.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/metrics.h"
#include "show/subscribers.h"

/* Subscribers of a qdisc, if nothing else is asked for. */
#define MOST_SHOWN 1000

/* Those of a qdisc that are shown; NULL behind the last. */
struct chosen {
	const struct crowd *crowd;
	const struct subscriber **of;
};

/* One of each queue. */
struct row {
	struct metric metric;
	size_t member; /* of struct subscriber_queue */
};

#define OF_QUEUE(member) offsetof(struct subscriber_queue, member)

static const struct row rows[] = {
	{ { "subscriber_bytes", COUNTER, "bytes", "Bytes forwarded." }, OF_QUEUE(bytes) },
	{ { "subscriber_marked_packets", COUNTER, "packets", "Packets that got CE." },
	  OF_QUEUE(marks) },
	{ { "subscriber_dropped_packets", COUNTER, "packets", "Packets dropped." },
	  OF_QUEUE(drops) },
	{ { "subscriber_delay_p99_seconds", GAUGE, "seconds",
	    "How long 99 % of the last packets waited at most; missing if there were none." },
	  OF_QUEUE(p99_ns) },
};

static const struct metric plan_metric = { "subscriber_plan_bytes_per_second", GAUGE, NULL,
					   "The rate of the plan." };

static void begin(const struct metric *metric, const struct crowd *crowd,
		  const struct subscriber *subscriber, const char *queue)
{
	metric_begin(metric, NULL, crowd->sample);
	metric_label("subscriber", subscriber->name);
	metric_label("site", subscriber->plan.parent ? subscriber->plan.parent->name : "");
	if (queue)
		metric_label("queue", queue);
	metric_value();
}

static void print_queue(const struct row *row, const struct crowd *crowd,
			const struct subscriber *subscriber, const char *name,
			const struct subscriber_queue *queue)
{
	const __u64 value = *(const __u64 *)((const char *)queue + row->member);
	const bool is_time = row->member == OF_QUEUE(p99_ns);

	if (is_time && !value)
		return;
	begin(&row->metric, crowd, subscriber, name);
	if (is_time)
		printf("%.9g\n", (double)value / DUALPI2_NSEC_PER_SEC);
	else
		printf("%llu\n", value);
}

static void print_row(const struct row *row, const struct chosen *chosen)
{
	const struct crowd *crowd = chosen->crowd;

	for (const struct subscriber **each = chosen->of; *each; each++) {
		const struct subscriber_use *use = &crowd->use[(*each)->number];

		print_queue(row, crowd, *each, METRIC_L, &use->l);
		print_queue(row, crowd, *each, METRIC_C, &use->c);
	}
}

static void print_plans(const struct chosen *chosen)
{
	for (const struct subscriber **each = chosen->of; *each != &crowd_nobody; each++) {
		begin(&plan_metric, chosen->crowd, *each, NULL);
		printf("%llu\n", (unsigned long long)(*each)->plan.down);
	}
}

static void print_all(const struct chosen *chosen, size_t count, enum exposition exposition)
{
	metric_head(&plan_metric, exposition);
	for (size_t i = 0; i < count; i++)
		print_plans(&chosen[i]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		metric_head(&rows[i].metric, exposition);
		for (size_t k = 0; k < count; k++)
			print_row(&rows[i], &chosen[k]);
	}
	metrics_end(exposition);
}

bool subscriber_metrics_print(const struct crowds *crowds, size_t top, enum exposition exposition)
{
	struct chosen *chosen = calloc(crowds->count + 1, sizeof(*chosen));
	bool done = chosen;

	for (size_t i = 0; done && i < crowds->count; i++) {
		chosen[i] = (struct chosen){ &crowds->of[i],
					     crowd_top(&crowds->of[i], top ?: MOST_SHOWN) };
		done = chosen[i].of;
	}
	if (done)
		print_all(chosen, crowds->count, exposition);
	for (size_t i = 0; chosen && i < crowds->count; i++)
		free(chosen[i].of);
	free(chosen);
	return done;
}
