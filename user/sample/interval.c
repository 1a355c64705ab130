// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/stat.h"
#include "cli/message.h"

static __u64 growth(__u64 earlier, __u64 later)
{
	return later > earlier ? later - earlier : 0;
}

/* The highest delay is known if none before was higher; else it is in the highest bin. */
static void subtract_histogram(struct dualpi2_histogram *histogram,
			       const struct dualpi2_histogram *earlier)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->bucket[i] = growth(earlier->bucket[i], histogram->bucket[i]);
	histogram->sum_ns = growth(earlier->sum_ns, histogram->sum_ns);
	if (histogram->max_ns <= earlier->max_ns)
		histogram->max_ns = histogram_quantile(histogram, 1000);
}

static void subtract(struct sample *interval, const struct sample *earlier)
{
	struct dualpi2_stats *stats = &interval->stats;

	stat_subtract(qdisc_rows, stats, &earlier->stats);
	stat_subtract(interval->aqm->gauges, stats, &earlier->stats);
	stat_subtract(queue_rows, &stats->l, &earlier->stats.l);
	stat_subtract(queue_rows, &stats->c, &earlier->stats.c);
	stats->overload.events = growth(earlier->stats.overload.events, stats->overload.events);
	stats->overload.total_ns =
		growth(earlier->stats.overload.total_ns, stats->overload.total_ns);
	subtract_histogram(&interval->delays.l, &earlier->delays.l);
	subtract_histogram(&interval->delays.c, &earlier->delays.c);
}

static bool is_same_place(const struct sample *one, const struct sample *other)
{
	return one->is_sum == other->is_sum && !memcmp(&one->key, &other->key, sizeof(one->key));
}

static bool is_same_qdisc(const struct sample *one, const struct sample *other)
{
	return is_same_place(one, other) && one->identity == other->identity;
}

bool interval_between(const struct sample *earlier, const struct sample *later,
		      struct sample *interval)
{
	if (!is_same_qdisc(earlier, later) || later->taken_ns <= earlier->taken_ns)
		return false;
	*interval = *later;
	interval->span_ns = later->taken_ns - earlier->taken_ns;
	subtract(interval, earlier);
	return true;
}

const struct sample *interval_find(const struct samples *list, const struct sample *sample)
{
	for (size_t i = 0; i < list->count; i++) {
		if (is_same_place(&list->items[i], sample))
			return &list->items[i];
	}
	return NULL;
}

bool interval_list(const struct samples *earlier, const struct samples *later,
		   struct samples *intervals)
{
	*intervals =
		(struct samples){ .items = calloc(later->count + 1, sizeof(*intervals->items)) };
	if (!intervals->items)
		return fail(ENOMEM, "no room for the figures");
	for (size_t i = 0; i < later->count; i++) {
		const struct sample *before = interval_find(earlier, &later->items[i]);

		if (before &&
		    interval_between(before, &later->items[i], &intervals->items[intervals->count]))
			intervals->count++;
	}
	return true;
}

double interval_seconds(const struct sample *interval)
{
	return (double)interval->span_ns / DUALPI2_NSEC_PER_SEC;
}

double interval_rate(const struct sample *interval, uint64_t count)
{
	return interval->span_ns ? (double)count / interval_seconds(interval) : 0;
}

double interval_speed(const struct sample *interval, uint64_t bytes)
{
	return 8 * interval_rate(interval, bytes);
}

double interval_forwarded(const struct sample *interval)
{
	return interval_speed(interval, interval->stats.l.counters.bytes_out +
						interval->stats.c.counters.bytes_out);
}

double interval_empty(const struct sample *interval)
{
	const struct dualpi2_stats *stats = &interval->stats;
	double span = (double)interval->span_ns, waited;

	waited = (double)interval->delays.l.sum_ns + (double)interval->delays.c.sum_ns +
		 (double)stats->l.head_age_ns + (double)stats->c.head_age_ns;
	if (waited >= span || dualpi2_drops(&stats->l.counters) ||
	    dualpi2_drops(&stats->c.counters))
		return 0;
	return 1 - waited / span;
}
