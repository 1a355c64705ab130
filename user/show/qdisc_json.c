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
#include "show/flows.h"
#include "show/show.h"
#include "vdq/vdq.h"

/* More than a line with all bins of four histograms takes. */
#define LINE_BYTES (64 << 10)

static void add_time(struct json_object *to, const char *key, uint64_t ns)
{
	json_add_uint(to, key, sample_us(ns));
}

/* null: there was no packet. */
static void add_delay(struct json_object *to, const char *key,
		      const struct dualpi2_histogram *histogram, enum delay asked)
{
	__u64 ns;

	if (sample_delay(histogram, asked, &ns))
		add_time(to, key, ns);
	else
		json_add(to, key, NULL);
}

static struct json_object *add_object(struct json_object *to, const char *key)
{
	struct json_object *object = json_object_new_object();

	json_add(to, key, object);
	return object;
}

/* "gso.split" is `split` of the object "gso". */
static void add_row(struct json_object *to, const struct stat_row *row, const void *of)
{
	const char *key = row->key, *dot = strchr(key, '.');
	const int64_t value = stat_value(row, of);
	struct json_object *inner;
	char object[32];

	if (dot) {
		snprintf(object, sizeof(object), "%.*s", (int)(dot - key), key);
		if (!json_object_object_get_ex(to, object, &inner))
			inner = add_object(to, object);
		to = inner;
		key = dot + 1;
	}
	if (row->is_signed)
		json_add(to, key, json_object_new_int64(value));
	else
		json_add_uint(to, key, stat_is_time(row) ? sample_us(value) : (uint64_t)value);
}

/* `of`: the struct that has them; without its gauges for the sum over the queues of an mq. */
static void add_rows(struct json_object *to, const struct stat_row *rows, const void *of,
		     bool with_gauges)
{
	for (; rows->member; rows++) {
		if (rows->key && (rows->is_counter || with_gauges))
			add_row(to, rows, of);
	}
}

/* Edges in nanoseconds: the narrowest bins are 128 of them wide. */
static struct json_object *bins_of(const struct dualpi2_histogram *histogram)
{
	struct json_object *bins = json_object_new_array();

	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++) {
		struct json_object *bin;

		if (!histogram->bucket[i])
			continue;
		bin = json_object_new_object();
		json_add_uint(bin, "from-ns", histogram_edge(i));
		json_add_uint(bin, "to-ns", histogram_edge(i + 1));
		json_add_uint(bin, "packets", histogram->bucket[i]);
		json_object_array_add(bins, bin);
	}
	return bins;
}

/* What it has of each queue, and of an interval how fast. */
static void add_queues(struct json_object *to, const struct figures *figures,
		       enum json_delays delays)
{
	const struct {
		const char *key;
		const struct dualpi2_queue *queue;
		const struct dualpi2_histogram *delays;
	} queues[] = {
		{ "l-queue", &figures->stats.l, &figures->delays.l },
		{ "c-queue", &figures->stats.c, &figures->delays.c },
	};

	for (size_t i = 0; i < 2; i++) {
		const struct dualpi2_counters *counters = &queues[i].queue->counters;
		const struct dualpi2_histogram *histogram = queues[i].delays;
		struct json_object *queue = add_object(to, queues[i].key);
		struct json_object *delay;

		add_rows(queue, queue_rows, queues[i].queue, true);
		delay = add_object(queue, "delay");
		add_delay(delay, "mean", histogram, DELAY_MEAN);
		add_delay(delay, "p50", histogram, DELAY_P50);
		add_delay(delay, "p99", histogram, DELAY_P99);
		add_delay(delay, "p99.9", histogram, DELAY_P999);
		add_delay(delay, "max", histogram, DELAY_HIGHEST);
		if (delays == JSON_BINS)
			json_add(delay, "bins", bins_of(histogram));
		if (!figures->span_ns)
			continue;
		json_add_decimal(queue, "rate-in", "%.0f",
				 interval_speed(figures, counters->bytes_in));
		json_add_decimal(queue, "rate-out", "%.0f",
				 interval_speed(figures, counters->bytes_out));
	}
}

/* The columns that hold any, from the least value on. */
static struct json_object *values_of(const struct dualpi2_values *values)
{
	struct json_object *columns = json_object_new_array();

	for (__u32 i = 0; i < DUALPI2_VALUE_COLUMNS; i++) {
		struct json_object *column;

		if (!values->l[i] && !values->all[i])
			continue;
		column = json_object_new_object();
		json_add_uint(column, "from", (i << VDQ_VALUE_BITS) / DUALPI2_VALUE_COLUMNS);
		json_add_uint(column, "l4s", values->l[i]);
		json_add_uint(column, "all", values->all[i]);
		json_object_array_add(columns, column);
	}
	return columns;
}

static void add_dscps(struct json_object *to, const char *key, __u64 dscps)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		if (dscps >> dscp & 1)
			json_object_array_add(array, json_object_new_uint64(dscp));
	}
	json_add(to, key, array);
}

/* "step-thresh-us" or "step-thresh-pkts" */
static void add_step(struct json_object *to, const char *key, uint64_t value)
{
	const bool in_packets = value & STEP_IN_PACKETS;
	char full[64];

	snprintf(full, sizeof(full), "%s-%s", key, in_packets ? "pkts" : "us");
	json_add_uint(to, full, in_packets ? value & ~STEP_IN_PACKETS : sample_us(value));
}

/* Null where it is so, and not there where it is not, as tc has it; and a word of our own. */
static void add_presence(struct json_object *to, const char *key, uint64_t value)
{
	if (value > 1)
		json_add_text(to, key, "auto");
	else if (value)
		json_add(to, key, NULL);
}

/* As tc writes it where native has it. What others decide is not there where it is 0. */
static void add_param(struct json_object *to, const struct option_spec *spec, uint64_t value)
{
	char word[OPTION_TEXT_MAX];

	switch (spec->kind) {
	case KIND_TIME:
		return add_time(to, spec->json, value);
	case KIND_GAIN:
		return json_add_decimal(to, spec->json, "%g", (double)value / 256);
	case KIND_SHARE:
		return json_add_decimal(to, spec->json, "%g", (double)value / PROB_MAX);
	case KIND_RATE:
		return json_add_uint(to, spec->json, value * 8);
	case KIND_OVERHEAD:
		return json_add(to, spec->json, json_object_new_int64((int16_t)value));
	case KIND_STEP:
		return add_step(to, spec->json, value);
	case KIND_DSCPS:
		return add_dscps(to, spec->json, value);
	case KIND_CHOICE:
		return json_add_text(to, spec->json, value_format(spec, value, word));
	case KIND_PRESENCE:
		return add_presence(to, spec->json, value);
	case KIND_PART:
		return value ? json_add_uint(to, spec->json, value) : (void)0;
	default:
		json_add_uint(to, spec->json, value);
	}
}

static void add_options(struct json_object *to, const struct sample *sample)
{
	const struct dualpi2_params params = sample_params(&sample->total.stats);
	const struct option_spec *spec;

	to = add_object(to, "options");
	for (size_t i = 0; (spec = params_row(sample->aqm, i)); i++) {
		if (spec->json)
			add_param(to, spec, params_value(spec, &params));
	}
}

static void add_counters(struct json_object *to, const struct qdisc_counters *counters)
{
	json_add_uint(to, "bytes", counters->bytes);
	json_add_uint(to, "packets", counters->packets);
	json_add_uint(to, "drops", counters->drops);
	json_add_uint(to, "overlimits", counters->overlimits);
	json_add_uint(to, "requeues", counters->requeues);
	json_add_uint(to, "backlog", counters->backlog);
	json_add_uint(to, "qlen", counters->qlen);
}

/* As native's struct tc_dualpi2_xstats is printed. */
static void add_xstats(struct json_object *to, const struct sample *sample)
{
	const struct dualpi2_queue *l = &sample->total.stats.l, *c = &sample->total.stats.c;

	json_add_decimal(to, "prob", "%g", sample_probability(sample->total.stats.levels.prob));
	add_time(to, "delay-c", c->head_age_ns);
	add_time(to, "delay-l", l->head_age_ns);
	json_add_uint(to, "pkts-in-c", c->counters.packets_in);
	json_add_uint(to, "pkts-in-l", l->counters.packets_in);
	json_add_uint(to, "ecn-mark", dualpi2_marks(&l->counters) + dualpi2_marks(&c->counters));
	json_add_uint(to, "step-mark", l->counters.mark_native + c->counters.mark_native);
	add_rows(to, sample->aqm->gauges, &sample->total.stats, true);
}

static void add_overload(struct json_object *to, const struct dualpi2_overload *overload)
{
	to = add_object(to, "overload");
	json_add_uint(to, "events", overload->events);
	json_add(to, "active", json_object_new_boolean(overload->active));
	if (overload->events)
		json_add_decimal(to, "last-start", JSON_SECONDS,
				 clock_unix_time(overload->start_ns));
	else
		json_add(to, "last-start", NULL);
	add_time(to, "last-duration", overload->duration_ns);
	add_time(to, "total", overload->total_ns);
}

/* Beside what the guard counts. */
static void add_guarded(struct json_object *to, const struct guarded *guarded)
{
	struct json_object *guard;

	if (json_object_object_get_ex(to, "guard", &guard))
		flows_add_gauges(guard, guarded);
}

static void add_place(struct json_object *to, const struct sample *sample)
{
	char handle[FORMAT_MAX];

	json_add_text(to, "kind", sample_kind(sample));
	snprintf(handle, sizeof(handle), "%x:", sample->total.stats.handle >> 16);
	json_add_text(to, "handle", handle);
	json_add_text(to, "dev", sample->device);
	json_add_text(to, "interface", sample->ifname);
	json_add_text(to, "direction", direction_name(sample->direction));
	if (sample->key.parent == TC_H_ROOT)
		json_add(to, "root", json_object_new_boolean(true));
	else
		json_add_text(to, "parent", format_class(sample->key.parent, handle));
}

/* Only of an mq of ours that has other qdiscs in some queues. */
static void add_strays(struct json_object *to, const struct strays *strays)
{
	char class[FORMAT_MAX];

	to = add_object(to, "other-qdiscs");
	json_add_uint(to, "queues", strays->count);
	json_add_text(to, "first", format_class(strays->first, class));
	json_add_text(to, "kind", strays->kind);
}

static void add_sample(struct json_object *to, const struct sample *sample, enum json_delays delays)
{
	add_place(to, sample);
	if (sample->refcnt != 1) /* as tc, which shows none for a child of mq */
		json_add_uint(to, "refcnt", sample->refcnt);
	/* An mq has neither options nor an AQM of its own. */
	if (sample_is_dualq(sample))
		add_options(to, sample);
	add_counters(to, &sample->counters);
	if (sample_is_dualq(sample))
		add_xstats(to, sample);
	add_rows(to, qdisc_rows, &sample->total.stats, !sample_is_many(sample));
	add_guarded(to, &sample->guarded);
	json_add(to, "tcx-attached",
		 sample->tcx_attached < 0 ? NULL : json_object_new_boolean(sample->tcx_attached));
	if (sample->passed_over[0])
		json_add_text(to, "passed-over", sample->passed_over);
	if (sample->strays.count)
		add_strays(to, &sample->strays);
	add_overload(to, &sample->total.stats.overload);
	add_queues(to, &sample->total, delays);
	if (sample->aqm->has_values && sample_is_dualq(sample) && delays == JSON_BINS)
		json_add(to, "values", values_of(&sample->values));
}

void json_print(const struct samples *list, enum json_delays delays)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < list->count; i++) {
		struct json_object *object = json_object_new_object();

		add_sample(object, &list->items[i], delays);
		json_object_array_add(array, object);
	}
	puts(json_object_to_json_string_ext(array, JSON_STYLE | JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

/* ---- lines --------------------------------------------------------------------------- */

static void add_interval(struct json_object *to, const struct figures *interval,
			 enum json_delays delays)
{
	to = add_object(to, "interval");
	json_add_decimal(to, "seconds", JSON_SECONDS, interval_seconds(interval));
	json_add_decimal(to, "empty", "%g", interval_empty(interval));
	add_queues(to, interval, delays);
}

void json_begin_lines(FILE *file)
{
	static char line[LINE_BYTES];

	setvbuf(file, line, _IOFBF, sizeof(line));
}

void json_print_lines(FILE *file, const struct samples *list, enum json_delays delays)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sample *sample = &list->items[i];
		struct json_object *object;

		if (!sample->recent.span_ns)
			continue;
		object = json_object_new_object();
		json_add_decimal(object, "time", JSON_SECONDS,
				 clock_unix_time(sample->total.taken_ns));
		add_sample(object, sample, delays);
		add_interval(object, &sample->recent, delays);
		json_put_line(file, object);
	}
}
