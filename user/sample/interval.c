// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <string.h>

#include "aqm/stat.h"

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

void interval_subtract(const struct aqm *aqm, const struct figures *earlier,
		       const struct figures *later, struct figures *interval)
{
	const struct dualpi2_stats *before = &earlier->stats;
	struct dualpi2_stats *stats = &interval->stats;

	*interval = *later;
	interval->span_ns = later->taken_ns - earlier->taken_ns;
	stat_subtract(qdisc_rows, stats, before);
	stat_subtract(aqm->gauges, stats, before);
	stat_subtract(queue_rows, &stats->l, &before->l);
	stat_subtract(queue_rows, &stats->c, &before->c);
	stats->overload.events = growth(before->overload.events, stats->overload.events);
	stats->overload.total_ns = growth(before->overload.total_ns, stats->overload.total_ns);
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
		      struct figures *interval)
{
	if (!is_same_qdisc(earlier, later) || later->total.taken_ns <= earlier->total.taken_ns)
		return false;
	interval_subtract(later->aqm, &earlier->total, &later->total, interval);
	return true;
}

const struct sample *interval_find(const struct samples *list, const struct sample *sample,
				   size_t place)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sample *item = &list->items[(place + i) % list->count];

		if (is_same_place(item, sample))
			return item;
	}
	return NULL;
}

void interval_since(const struct samples *earlier, struct samples *later)
{
	for (size_t i = 0; i < later->count; i++) {
		struct sample *sample = &later->items[i];
		const struct sample *before = interval_find(earlier, sample, i);

		if (before)
			interval_between(before, sample, &sample->recent);
	}
}

double interval_seconds(const struct figures *interval)
{
	return (double)interval->span_ns / DUALPI2_NSEC_PER_SEC;
}

double interval_rate(const struct figures *interval, uint64_t count)
{
	return interval->span_ns ? (double)count / interval_seconds(interval) : 0;
}

double interval_speed(const struct figures *interval, uint64_t bytes)
{
	return 8 * interval_rate(interval, bytes);
}

double interval_forwarded(const struct figures *interval)
{
	return interval_speed(interval, interval->stats.l.counters.bytes_out +
						interval->stats.c.counters.bytes_out);
}

double interval_empty(const struct figures *interval)
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
