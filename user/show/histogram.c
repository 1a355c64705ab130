// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <stdio.h>

#include "cli/format.h"
#include "vdq/vdq.h"

#define ROWS_MAX 16
#define BAR_WIDTH 22
#define CELL_WIDTH (2 + BAR_WIDTH + 1 + 7) /* with its percentage */

/* Two arrays of `count`, of which are shown, if there is anything, rows `first` to `last`, both
 * included, of 2^shift columns each. The highest share that one of them has in a row gets the
 * longest bar.
 */
struct plot {
	const __u64 *l, *c;
	__u64 l_total, c_total;
	unsigned int count;
	/* Writes the label of a row that ends before a column (FORMAT_MAX bytes), and returns it.
	 */
	const char *(*label)(unsigned int column, char *text);
	unsigned int first, last, shift;
	double highest;
};

static __u64 part_of(const __u64 *column, const struct plot *plot, unsigned int row)
{
	__u64 part = 0;

	for (unsigned int i = row << plot->shift; i < (row + 1) << plot->shift; i++)
		part += i < plot->count ? column[i] : 0;
	return part;
}

static double share_of(__u64 part, __u64 total)
{
	return part ? (double)part / (double)total : 0;
}

/* Choose as few rows as fit. */
static void choose_rows(struct plot *plot)
{
	plot->first = plot->count - 1;
	for (unsigned int i = 0; i < plot->count; i++) {
		if (!plot->l[i] && !plot->c[i])
			continue;
		plot->first = i < plot->first ? i : plot->first;
		plot->last = i;
	}
	while ((plot->last >> plot->shift) - (plot->first >> plot->shift) >= ROWS_MAX)
		plot->shift++;
	plot->first >>= plot->shift;
	plot->last >>= plot->shift;
	for (unsigned int row = plot->first; row <= plot->last; row++) {
		const double l = share_of(part_of(plot->l, plot, row), plot->l_total);
		const double c = share_of(part_of(plot->c, plot, row), plot->c_total);
		const double higher = l > c ? l : c;

		plot->highest = higher > plot->highest ? higher : plot->highest;
	}
}

static void print_bar(const struct plot *plot, __u64 part, __u64 total)
{
	char bar[BAR_TEXT_MAX], percent[FORMAT_MAX];

	printf("  %s %7s", bar_across(share_of(part, total) / plot->highest, BAR_WIDTH, bar),
	       format_share(part, total, percent));
}

/* Nothing at the end of a line where there is none. */
static void print_row(const struct plot *plot, unsigned int row)
{
	const __u64 l = part_of(plot->l, plot, row), c = part_of(plot->c, plot, row);
	char label[FORMAT_MAX];

	printf("%8s", plot->label((row + 1) << plot->shift, label));
	if (l)
		print_bar(plot, l, plot->l_total);
	else if (c)
		printf("%*s", CELL_WIDTH, "");
	if (c)
		print_bar(plot, c, plot->c_total);
	printf("\n");
}

static void print_rows(struct plot *plot)
{
	choose_rows(plot);
	for (unsigned int row = plot->first; plot->highest > 0 && row <= plot->last; row++)
		print_row(plot, row);
}

static void print_columns(const char *name, const char *l, const char *c)
{
	printf("%8s  %-*s  %s\n", name, CELL_WIDTH - 2, l, c);
}

#define HEAD_MAX (FORMAT_MAX + 32)

static const char *queue_head(const char *name, __u64 total, const char *unit, char text[HEAD_MAX])
{
	char count[FORMAT_MAX];

	snprintf(text, HEAD_MAX, "%s: %s %s", name, format_count(total, count), unit);
	return text;
}

/* ---- delays -------------------------------------------------------------------------- */

static const char *delay_below(unsigned int column, char *text)
{
	return format_delay(histogram_edge(column), text);
}

static void print_head(const struct sample *sample, __u64 span_ns)
{
	char place[PLACE_MAX], span[FORMAT_MAX];

	printf("%s: delays ", sample_place(sample, place));
	if (span_ns)
		printf("of the last %s\n", format_delay(span_ns, span));
	else
		printf("since it was attached\n");
}

static void print_delay(const char *name, const struct dualpi2_delays *delays, enum delay asked)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	print_columns(name, delay_text(&delays->l, asked, l), delay_text(&delays->c, asked, c));
}

static void print_delays(const struct dualpi2_delays *delays)
{
	const struct dualpi2_histogram *l = &delays->l, *c = &delays->c;
	struct plot plot = {
		.l = l->bucket,
		.c = c->bucket,
		.l_total = histogram_count(l),
		.c_total = histogram_count(c),
		.count = HISTOGRAM_BUCKETS,
		.label = delay_below,
	};
	char l_head[HEAD_MAX], c_head[HEAD_MAX];

	print_columns("below", queue_head("L4S", plot.l_total, "packets", l_head),
		      queue_head("Classic", plot.c_total, "packets", c_head));
	print_rows(&plot);
	print_delay("50 %", delays, DELAY_P50);
	print_delay("99 %", delays, DELAY_P99);
	print_delay("highest", delays, DELAY_HIGHEST);
}

/* ---- values -------------------------------------------------------------------------- */

/* With the columns the other way round, the values fall, as rates rise. */
static const char *value_from(unsigned int column, char *text)
{
	const unsigned int left = DUALPI2_VALUE_COLUMNS - column;

	snprintf(text, FORMAT_MAX, "%u", (left << VDQ_VALUE_BITS) / DUALPI2_VALUE_COLUMNS);
	return text;
}

static __u64 turn(const __u64 column[], __u64 turned[])
{
	__u64 total = 0;

	for (unsigned int i = 0; i < DUALPI2_VALUE_COLUMNS; i++) {
		turned[DUALPI2_VALUE_COLUMNS - 1 - i] = column[i];
		total += column[i];
	}
	return total;
}

static void print_values(const struct dualpi2_values *values)
{
	__u64 l[DUALPI2_VALUE_COLUMNS], all[DUALPI2_VALUE_COLUMNS];
	struct plot plot = {
		.l = l,
		.c = all,
		.l_total = turn(values->l, l),
		.c_total = turn(values->all, all),
		.count = DUALPI2_VALUE_COLUMNS,
		.label = value_from,
	};
	char l_head[HEAD_MAX], all_head[HEAD_MAX];

	printf("\nvalues in the virtual queues\n");
	print_columns("from", queue_head("L4S", plot.l_total, "bytes", l_head),
		      queue_head("all", plot.c_total, "bytes", all_head));
	print_rows(&plot);
}

void histogram_print(const struct samples *list, enum shown shown)
{
	const char *gap = "";

	for (size_t i = 0; i < list->count; i++) {
		const struct sample *sample = &list->items[i];
		const struct figures *figures = shown_figures(sample, shown);

		if (!figures)
			continue;
		printf("%s", gap);
		print_head(sample, figures->span_ns);
		print_delays(&figures->delays);
		if (sample->aqm->has_values && sample_is_dualq(sample))
			print_values(&sample->values);
		gap = "\n";
	}
}
