// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <stdio.h>

#include "cli/format.h"

#define ROWS_MAX 16
#define BAR_WIDTH 22
#define CELL_WIDTH (2 + BAR_WIDTH + 1 + 7) /* with its percentage */

/* Rows `first` to `last`, both included, of 2^shift buckets each. The highest share that a queue
 * has in one of them, 0 if there are no packets, gets the longest bar.
 */
struct plot {
	unsigned int first, last, shift;
	double highest;
};

static __u64 packets_of(const struct dualpi2_histogram *histogram, const struct plot *plot,
			unsigned int row)
{
	__u64 packets = 0;

	for (unsigned int i = row << plot->shift; i < (row + 1) << plot->shift; i++)
		packets += i < HISTOGRAM_BUCKETS ? histogram->bucket[i] : 0;
	return packets;
}

static double share_of(const struct dualpi2_histogram *histogram, const struct plot *plot,
		       unsigned int row)
{
	const __u64 packets = packets_of(histogram, plot, row);

	return packets ? (double)packets / (double)histogram_count(histogram) : 0;
}

/* What has packets of either queue, in as few rows as fit. */
static struct plot plot_of(const struct dualpi2_delays *delays)
{
	struct plot plot = { .first = HISTOGRAM_BUCKETS - 1 };

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!delays->l.bucket[i] && !delays->c.bucket[i])
			continue;
		plot.first = i < plot.first ? i : plot.first;
		plot.last = i;
	}
	while ((plot.last >> plot.shift) - (plot.first >> plot.shift) >= ROWS_MAX)
		plot.shift++;
	plot.first >>= plot.shift;
	plot.last >>= plot.shift;
	for (unsigned int row = plot.first; row <= plot.last; row++) {
		const double l = share_of(&delays->l, &plot, row);
		const double c = share_of(&delays->c, &plot, row), higher = l > c ? l : c;

		plot.highest = higher > plot.highest ? higher : plot.highest;
	}
	return plot;
}

static void print_bar(const struct dualpi2_histogram *histogram, const struct plot *plot,
		      unsigned int row)
{
	const __u64 packets = packets_of(histogram, plot, row);
	char bar[BAR_TEXT_MAX], percent[FORMAT_MAX];

	printf("  %s %7s",
	       bar_across(share_of(histogram, plot, row) / plot->highest, BAR_WIDTH, bar),
	       format_share(packets, histogram_count(histogram), percent));
}

/* Nothing at the end of a line where there is none. */
static void print_row(const struct dualpi2_delays *delays, const struct plot *plot,
		      unsigned int row)
{
	const bool has_c = packets_of(&delays->c, plot, row);
	char edge[FORMAT_MAX];

	printf("%8s", format_delay(histogram_edge((row + 1) << plot->shift), edge));
	if (packets_of(&delays->l, plot, row))
		print_bar(&delays->l, plot, row);
	else if (has_c)
		printf("%*s", CELL_WIDTH, "");
	if (has_c)
		print_bar(&delays->c, plot, row);
	printf("\n");
}

static void print_head(const struct sample *sample)
{
	char place[PLACE_MAX], span[FORMAT_MAX];

	printf("%s: delays ", sample_place(sample, place));
	if (sample->span_ns)
		printf("of the last %s\n", format_delay(sample->span_ns, span));
	else
		printf("since it was attached\n");
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
	const struct plot plot = plot_of(&sample->delays);
	char l_head[HEAD_MAX], c_head[HEAD_MAX];

	print_head(sample);
	print_columns("below", queue_head("L4S", l, l_head), queue_head("Classic", c, c_head));
	for (unsigned int row = plot.first; plot.highest > 0 && row <= plot.last; row++)
		print_row(&sample->delays, &plot, row);
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
