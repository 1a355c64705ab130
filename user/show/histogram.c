// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/histogram.h"

#include <linux/pkt_sched.h>
#include <stdio.h>

#include "cli/format.h"
#include "show/bars.h"

#define ROWS_MAX 16
#define BAR_WIDTH 22
#define CELL_WIDTH (2 + BAR_WIDTH + 1 + 7) /* with its percentage */

/* Buckets `first` to `last`, both included, in rows of 2^shift of them. */
struct extent {
	unsigned int first, last, shift;
};

static unsigned int row_of(const struct extent *extent, unsigned int bucket)
{
	return bucket >> extent->shift;
}

static __u64 packets_of(const struct dualpi2_histogram *histogram, const struct extent *extent,
			unsigned int row)
{
	__u64 packets = 0;

	for (unsigned int i = row << extent->shift; i < (row + 1) << extent->shift; i++)
		packets += i < HISTOGRAM_BUCKETS ? histogram->bucket[i] : 0;
	return packets;
}

static double share(__u64 part, __u64 whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* What has packets of either queue, in as few rows as fit. */
static struct extent extent_of(const struct dualpi2_delays *delays)
{
	struct extent extent = { .first = HISTOGRAM_BUCKETS };

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!delays->l.bucket[i] && !delays->c.bucket[i])
			continue;
		if (extent.first == HISTOGRAM_BUCKETS)
			extent.first = i;
		extent.last = i;
	}
	while (row_of(&extent, extent.last) - row_of(&extent, extent.first) >= ROWS_MAX)
		extent.shift++;
	return extent;
}

/* The highest share of a row, which gets the longest bar. */
static double highest_share(const struct dualpi2_delays *delays, const struct extent *extent)
{
	const __u64 l = histogram_count(&delays->l), c = histogram_count(&delays->c);
	double highest = 0;

	for (unsigned int row = row_of(extent, extent->first); row <= row_of(extent, extent->last);
	     row++) {
		double l_share = share(packets_of(&delays->l, extent, row), l);
		double c_share = share(packets_of(&delays->c, extent, row), c);

		highest = l_share > highest ? l_share : highest;
		highest = c_share > highest ? c_share : highest;
	}
	return highest;
}

static void print_bar(__u64 part, __u64 whole, double highest)
{
	char bar[BAR_TEXT_MAX], percent[FORMAT_MAX];

	printf("  %s %7s", bar_across(share(part, whole) / highest, BAR_WIDTH, bar),
	       format_share(part, whole, percent));
}

/* What a queue has in this row; nothing at the end of a line where there is none. */
static void print_bars(const struct dualpi2_delays *delays, const struct extent *extent,
		       unsigned int row, double highest)
{
	const __u64 l = packets_of(&delays->l, extent, row);
	const __u64 c = packets_of(&delays->c, extent, row);

	if (l)
		print_bar(l, histogram_count(&delays->l), highest);
	else if (c)
		printf("%*s", CELL_WIDTH, "");
	if (c)
		print_bar(c, histogram_count(&delays->c), highest);
}

static void print_rows(const struct dualpi2_delays *delays, const struct extent *extent)
{
	const double highest = highest_share(delays, extent);
	char edge[FORMAT_MAX];

	for (unsigned int row = row_of(extent, extent->first); row <= row_of(extent, extent->last);
	     row++) {
		printf("%8s", format_delay(histogram_edge((row + 1) << extent->shift), edge));
		print_bars(delays, extent, row, highest);
		printf("\n");
	}
}

static void print_head(const struct sample *sample)
{
	char parent[FORMAT_MAX], span[FORMAT_MAX];

	printf("%s", sample->ifname);
	if (sample->is_sum)
		printf(", all queues");
	else if (sample->key.parent != TC_H_ROOT)
		printf(", queue %s", format_class(sample->key.parent, parent));
	if (sample->span_ns)
		printf(": delays of the last %s\n", format_delay(sample->span_ns, span));
	else
		printf(": delays since it was attached\n");
}

static void print_columns(const char *name, const char *l, const char *c)
{
	printf("%8s  %-*s  %s\n", name, CELL_WIDTH - 2, l, c);
}

#define HEAD_MAX (FORMAT_MAX + 32)

static const char *queue_head(const char *name, const struct dualpi2_histogram *histogram,
			      char text[HEAD_MAX])
{
	char count[FORMAT_MAX];

	snprintf(text, HEAD_MAX, "%s: %s packets", name,
		 format_count(histogram_count(histogram), count));
	return text;
}

static void print_quantile(const char *name, __u64 l_ns, __u64 c_ns)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	print_columns(name, format_delay(l_ns, l), format_delay(c_ns, c));
}

static void print_instance(const struct sample *sample)
{
	const struct dualpi2_histogram *l = &sample->delays.l, *c = &sample->delays.c;
	const struct extent extent = extent_of(&sample->delays);
	char l_head[HEAD_MAX], c_head[HEAD_MAX];

	print_head(sample);
	print_columns("below", queue_head("L4S", l, l_head), queue_head("Classic", c, c_head));
	if (extent.first < HISTOGRAM_BUCKETS)
		print_rows(&sample->delays, &extent);
	print_quantile("50 %", histogram_quantile(l, 500), histogram_quantile(c, 500));
	print_quantile("99 %", histogram_quantile(l, 990), histogram_quantile(c, 990));
	print_quantile("highest", l->max_ns, c->max_ns);
}

void histogram_print(const struct samples *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			printf("\n");
		print_instance(&list->items[i]);
	}
}
