// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/json.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "aqm/stat.h"
#include "cli/format.h"
#include "coupling.h"
#include "sample/clock.h"
#include "sample/interval.h"
#include "show/json_writer.h"

/* More than a line with all bins of four histograms takes. */
#define LINE_BYTES (64 << 10)

/* How many bytes of a key are the object's that it is in: "gso.split". */
static size_t object_length(const struct stat_row *row)
{
	return row->member && row->key && strchr(row->key, '.') ? strcspn(row->key, ".") : 0;
}

static bool is_same_object(const struct stat_row *one, const struct stat_row *other)
{
	const size_t length = object_length(one);

	return length == object_length(other) && !strncmp(one->key, other->key, length);
}

/* `of`: the struct that has them; without its gauges for the sum over the queues of an mq. */
static void print_rows(const struct stat_row *rows, const void *of, bool with_gauges)
{
	for (const struct stat_row *row = rows; row->member; row++) {
		const size_t length = object_length(row);
		const char *key;
		char object[32];

		if (!row->key || (!row->is_counter && !with_gauges))
			continue;
		key = row->key + (length ? length + 1 : 0);
		snprintf(object, sizeof(object), "%.*s", (int)length, row->key);
		if (length && (row == rows || !is_same_object(row - 1, row)))
			json_open_object(object);
		if (row->is_signed)
			json_int(key, stat_value(row, of));
		else if (stat_is_time(row))
			json_uint(key, sample_us((uint64_t)stat_value(row, of)));
		else
			json_uint(key, (uint64_t)stat_value(row, of));
		if (length && !is_same_object(row, row + 1))
			json_close_object();
	}
}

/* Edges in nanoseconds: the narrowest bins are 128 of them wide. */
static void print_bins(const struct dualpi2_histogram *histogram)
{
	json_open_array("bins");
	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->bucket[i])
			continue;
		json_open_object(NULL);
		json_uint("from-ns", histogram_edge(i));
		json_uint("to-ns", histogram_edge(i + 1));
		json_uint("packets", histogram->bucket[i]);
		json_close_object();
	}
	json_close_array();
}

static void print_delays(const struct dualpi2_histogram *histogram, enum json_delays delays)
{
	json_open_object("delay");
	json_uint("mean", sample_us(sample_mean_delay(histogram)));
	json_uint("p50", sample_us(histogram_quantile(histogram, 500)));
	json_uint("p99", sample_us(histogram_quantile(histogram, 990)));
	json_uint("p99.9", sample_us(histogram_quantile(histogram, 999)));
	json_uint("max", sample_us(histogram->max_ns));
	if (delays == JSON_BINS)
		print_bins(histogram);
	json_close_object();
}

static void open_queue(const char *key, const struct dualpi2_queue *queue,
		       const struct dualpi2_histogram *histogram, enum json_delays delays)
{
	json_open_object(key);
	print_rows(queue_rows, queue, true);
	print_delays(histogram, delays);
}

static void print_queue(const char *key, const struct dualpi2_queue *queue,
			const struct dualpi2_histogram *histogram, enum json_delays delays)
{
	open_queue(key, queue, histogram, delays);
	json_close_object();
}

static void print_dscps(const char *key, __u64 dscps)
{
	json_open_array(key);
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		if (dscps >> dscp & 1)
			json_uint(NULL, dscp);
	}
	json_close_array();
}

/* "step-thresh-us" or "step-thresh-pkts" */
static void print_step(const char *key, uint64_t value)
{
	const bool in_packets = value & STEP_IN_PACKETS;
	char full[64];

	snprintf(full, sizeof(full), "%s-%s", key, in_packets ? "pkts" : "us");
	json_uint(full, in_packets ? value & ~STEP_IN_PACKETS : sample_us(value));
}

/* As tc writes it where native has it: what KIND_PRESENCE says is null where it is so, and not
 * there where it is not.
 */
static void print_param(const struct option_spec *spec, uint64_t value)
{
	char word[OPTION_TEXT_MAX];

	switch (spec->kind) {
	case KIND_TIME:
		return json_uint(spec->json, sample_us(value));
	case KIND_GAIN:
		return json_float(spec->json, (double)value / 256);
	case KIND_SHARE:
		return json_float(spec->json, (double)value / PROB_MAX);
	case KIND_RATE:
		return json_uint(spec->json, value * 8);
	case KIND_OVERHEAD:
		return json_int(spec->json, (int16_t)value);
	case KIND_STEP:
		return print_step(spec->json, value);
	case KIND_DSCPS:
		return print_dscps(spec->json, value);
	case KIND_CHOICE:
		return json_string(spec->json, value_word(spec, value, word));
	case KIND_PRESENCE:
		return value ? json_null(spec->json) : (void)0;
	default:
		json_uint(spec->json, value);
	}
}

static void print_options(const struct sample *sample)
{
	const struct dualpi2_params params = sample_params(&sample->stats);
	const struct option_spec *spec;

	json_open_object("options");
	for (size_t i = 0; (spec = params_row(sample->aqm, i)); i++) {
		if (spec->json)
			print_param(spec, params_value(spec, &params));
	}
	json_close_object();
}

static void print_counters(const struct qdisc_counters *counters)
{
	json_uint("bytes", counters->bytes);
	json_uint("packets", counters->packets);
	json_uint("drops", counters->drops);
	json_uint("overlimits", counters->overlimits);
	json_uint("requeues", counters->requeues);
	json_uint("backlog", counters->backlog);
	json_uint("qlen", counters->qlen);
}

/* As native's struct tc_dualpi2_xstats is printed. */
static void print_xstats(const struct sample *sample)
{
	const struct sample_xstats xstats = sample_xstats(&sample->stats);

	json_float("prob", xstats.prob);
	json_uint("delay-c", xstats.delay_c_us);
	json_uint("delay-l", xstats.delay_l_us);
	json_uint("pkts-in-c", xstats.packets_in_c);
	json_uint("pkts-in-l", xstats.packets_in_l);
	json_uint("ecn-mark", xstats.ecn_mark);
	json_uint("step-mark", xstats.step_mark);
	print_rows(sample->aqm->gauges, &sample->stats, true);
}

static void print_overload(const struct dualpi2_overload *overload)
{
	json_open_object("overload");
	json_uint("events", overload->events);
	json_bool("active", overload->active);
	if (overload->events)
		json_seconds("last-start", clock_unix_time(overload->start_ns));
	else
		json_null("last-start");
	json_uint("last-duration", sample_us(overload->duration_ns));
	json_uint("total", sample_us(overload->total_ns));
	json_close_object();
}

static void print_place(const struct sample *sample)
{
	char handle[FORMAT_MAX];

	json_string("kind", sample->is_sum ? MQ_KIND : sample->aqm->kind);
	snprintf(handle, sizeof(handle), "%x:", sample->stats.handle >> 16);
	json_string("handle", handle);
	json_string("dev", sample->ifname);
	if (sample->key.parent == TC_H_ROOT) {
		json_bool("root", true);
		return;
	}
	json_string("parent", format_class(sample->key.parent, handle));
}

/* What both an instance and the sum over the queues of an mq have. */
static void print_totals(const struct sample *sample, enum json_delays delays)
{
	const struct dualpi2_stats *stats = &sample->stats;

	print_rows(qdisc_rows, stats, !sample->is_sum);
	if (sample->tcx_known)
		json_bool("tcx-attached", sample->tcx_attached);
	else
		json_null("tcx-attached");
	print_overload(&stats->overload);
	print_queue("l-queue", &stats->l, &sample->delays.l, delays);
	print_queue("c-queue", &stats->c, &sample->delays.c, delays);
}

static void print_members(const struct sample *sample, enum json_delays delays)
{
	print_place(sample);
	if (sample->refcnt != 1) /* as tc, which shows none for a child of mq */
		json_uint("refcnt", sample->refcnt);
	/* An mq has neither options nor an AQM of its own. */
	if (!sample->is_sum)
		print_options(sample);
	print_counters(&sample->counters);
	if (!sample->is_sum)
		print_xstats(sample);
	print_totals(sample, delays);
}

void json_print(const struct samples *list, enum json_delays delays)
{
	json_open_array(NULL);
	for (size_t i = 0; i < list->count; i++) {
		json_open_object(NULL);
		print_members(&list->items[i], delays);
		json_close_object();
	}
	json_close_array();
}

/* ---- lines --------------------------------------------------------------------------- */

static void print_queue_interval(const char *key, const struct sample *interval,
				 const struct dualpi2_queue *queue,
				 const struct dualpi2_histogram *histogram, enum json_delays delays)
{
	open_queue(key, queue, histogram, delays);
	json_whole("rate-in", interval_speed(interval, queue->counters.bytes_in));
	json_whole("rate-out", interval_speed(interval, queue->counters.bytes_out));
	json_close_object();
}

static void print_interval(const struct sample *interval, enum json_delays delays)
{
	json_open_object("interval");
	json_seconds("seconds", interval_seconds(interval));
	json_float("empty", interval_empty(interval));
	print_queue_interval("l-queue", interval, &interval->stats.l, &interval->delays.l, delays);
	print_queue_interval("c-queue", interval, &interval->stats.c, &interval->delays.c, delays);
	json_close_object();
}

static void print_line(const struct sample *now, const struct sample *interval,
		       enum json_delays delays)
{
	json_open_object(NULL);
	json_seconds("time", clock_unix_time(now->taken_ns));
	print_members(now, delays);
	print_interval(interval, delays);
	json_close_object();
}

void json_begin_lines(FILE *file)
{
	static char line[LINE_BYTES];

	setvbuf(file, line, _IOFBF, sizeof(line));
	json_set_output(file);
	json_set_compact();
}

void json_print_lines(FILE *file, const struct samples *samples, const struct samples *intervals,
		      enum json_delays delays)
{
	for (size_t i = 0; i < intervals->count; i++) {
		const struct sample *interval = &intervals->items[i];

		print_line(interval_find(samples, interval), interval, delays);
		fflush(file);
	}
}
