// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/jsonl.h"

#include "sample/interval.h"
#include "show/json_writer.h"

/* More than a line with all bins of four histograms takes. */
#define LINE_BYTES (64 << 10)

static void print_queue(const char *key, const struct figures *interval,
			const struct dualpi2_queue *queue,
			const struct dualpi2_histogram *histogram, enum document_delays delays)
{
	document_open_queue(key, queue, histogram, delays);
	json_whole("rate-in", interval_speed(interval, queue->bytes_in));
	json_whole("rate-out", interval_speed(interval, queue->bytes_out));
	json_close_object();
}

static void print_interval(const struct figures *interval, enum document_delays delays)
{
	json_open_object("interval");
	json_seconds("seconds", interval_seconds(interval));
	json_float("empty", interval_empty(interval));
	print_queue("l-queue", interval, &interval->stats.l, &interval->delays.l, delays);
	print_queue("c-queue", interval, &interval->stats.c, &interval->delays.c, delays);
	json_close_object();
}

static void print_line(const struct figures *now, const struct figures *interval,
		       enum document_delays delays)
{
	json_open_object(NULL);
	json_seconds("time", figures_unix_time(now->taken_ns));
	document_members(now, delays);
	print_interval(interval, delays);
	json_close_object();
}

void jsonl_begin(FILE *file)
{
	static char line[LINE_BYTES];

	setvbuf(file, line, _IOFBF, sizeof(line));
	json_set_output(file);
	json_set_compact();
}

void jsonl_print(FILE *file, const struct figures_list *sample,
		 const struct figures_list *intervals, enum document_delays delays)
{
	for (size_t i = 0; i < intervals->count; i++) {
		const struct figures *interval = &intervals->items[i];

		print_line(interval_find(sample, interval), interval, delays);
		fflush(file);
	}
}
