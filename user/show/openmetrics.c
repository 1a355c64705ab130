// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "aqm/aqm.h"
#include "aqm/stat.h"
#include "cli/format.h"
#include "show/metrics.h"
#include "vdq/vdq.h"

/* Edges of the buckets that are shown: two in a power of two, from 32.768 us to 1.07 s. Ours are
 * edges of them, too; that a value which is just an edge belongs to the bucket above makes no
 * difference to anybody.
 */
#define FIRST_EDGE (6 * HISTOGRAM_SUBS)
#define LAST_EDGE (21 * HISTOGRAM_SUBS)
#define EDGE_STEP (HISTOGRAM_SUBS / 2)

struct family {
	struct metric metric;
	void (*print)(const struct family *family, const struct sample *sample);
};

/* ---- samples ----------------------------------------------------------------------- */

/* Up to its value. `queue` and the pair of `label` and `value` may be NULL. */
static void begin_sample(const struct family *family, const char *suffix,
			 const struct sample *sample, const char *queue, const char *label,
			 const char *value)
{
	metric_begin(&family->metric, suffix, sample);
	if (queue)
		metric_label("queue", queue);
	if (label)
		metric_label(label, value);
	metric_value();
}

static void print_uint(const struct family *family, const struct sample *sample, const char *queue,
		       __u64 value)
{
	begin_sample(family, NULL, sample, queue, NULL, NULL);
	printf("%llu\n", value);
}

static void print_double(const struct family *family, const struct sample *sample,
			 const char *queue, double value)
{
	begin_sample(family, NULL, sample, queue, NULL, NULL);
	printf("%.9g\n", value);
}

static double seconds(__u64 ns)
{
	return (double)ns / DUALPI2_NSEC_PER_SEC;
}

/* A family with one sample. */
#define DEFINE_OF_BOTH(name, print, value)                                                 \
	static void print_##name(const struct family *family, const struct sample *sample) \
	{                                                                                  \
		print(family, sample, NULL, value);                                        \
	}

DEFINE_OF_BOTH(base_probability, print_double, sample_probability(sample->total.stats.levels.prob))
DEFINE_OF_BOTH(overload_active, print_uint, sample->total.stats.overload.active)
DEFINE_OF_BOTH(overload_events, print_uint, sample->total.stats.overload.events)
DEFINE_OF_BOTH(overload_time, print_double, seconds(sample->total.stats.overload.total_ns))
DEFINE_OF_BOTH(rate, print_uint, sample->total.stats.params.rate)
DEFINE_OF_BOTH(split_gso, print_uint, sample->total.stats.params.split_gso == DUALPI2_SPLIT_ALWAYS)

static void print_probability(const struct family *family, const struct sample *sample)
{
	const struct dualpi2_levels *levels = &sample->total.stats.levels;

	print_double(family, sample, METRIC_L, sample_probability(levels->p_cl));
	print_double(family, sample, METRIC_C, sample_probability(levels->p_c));
}

/* Nobody but the owner of the pins knows. */
static void print_tcx_attached(const struct family *family, const struct sample *sample)
{
	if (sample->tcx_attached >= 0)
		print_uint(family, sample, NULL, sample->tcx_attached);
}

/* Nor who is convicted. */
static void print_convicts(const struct family *family, const struct sample *sample)
{
	if (sample->guarded.is_known)
		print_uint(family, sample, NULL, sample->guarded.convicts);
}

static void print_worst_score(const struct family *family, const struct sample *sample)
{
	if (sample->guarded.is_known)
		print_double(family, sample, NULL, (double)sample->guarded.worst / 100);
}

static void print_queue_delays(const struct family *family, const struct sample *sample,
			       const char *name, const struct dualpi2_histogram *histogram)
{
	const __u64 packets = histogram_count(histogram);
	char edge[FORMAT_MAX];
	__u64 below = 0;

	for (__u32 i = 0; i < LAST_EDGE; i++) {
		below += histogram->bucket[i];
		if (i + 1 < FIRST_EDGE || (i + 1) % EDGE_STEP)
			continue;
		snprintf(edge, sizeof(edge), "%.10g", seconds(histogram_edge(i + 1)));
		begin_sample(family, "_bucket", sample, name, "le", edge);
		printf("%llu\n", below);
	}
	begin_sample(family, "_bucket", sample, name, "le", "+Inf");
	printf("%llu\n", packets);
	begin_sample(family, "_count", sample, name, NULL, NULL);
	printf("%llu\n", packets);
	begin_sample(family, "_sum", sample, name, NULL, NULL);
	printf("%.9f\n", seconds(histogram->sum_ns));
}

static void print_delays(const struct family *family, const struct sample *sample)
{
	print_queue_delays(family, sample, METRIC_L, &sample->total.delays.l);
	print_queue_delays(family, sample, METRIC_C, &sample->total.delays.c);
}

/* A sample for each column: `value` is where it begins. */
static void print_queue_values(const struct family *family, const struct sample *sample,
			       const char *queue, const __u64 column[])
{
	char from[FORMAT_MAX];

	for (__u32 i = 0; i < DUALPI2_VALUE_COLUMNS; i++) {
		snprintf(from, sizeof(from), "%u", (i << VDQ_VALUE_BITS) / DUALPI2_VALUE_COLUMNS);
		begin_sample(family, NULL, sample, queue, "value", from);
		printf("%llu\n", column[i]);
	}
}

static void print_packet_values(const struct family *family, const struct sample *sample)
{
	if (!sample->aqm->has_values)
		return;
	print_queue_values(family, sample, METRIC_L, sample->values.l);
	print_queue_values(family, sample, "all", sample->values.all);
}

static const struct family values_family = {
	{ "virtual_queue_bytes", GAUGE, "bytes",
	  "In the virtual queues, of packets with this value and more." },
	print_packet_values
};

/* ---- families ------------------------------------------------------------------------ */

static const struct family families[] = {
	{ { "delay_seconds", HISTOGRAM, "seconds",
	    "How long the forwarded packets have waited in the queue." },
	  print_delays },
	{ { "base_probability_ratio", GAUGE, "ratio", "p', 0 to 1." }, print_base_probability },
	{ { "probability_ratio", GAUGE, "ratio",
	    "Share of packets that the AQM marks (l4s: p_CL), or marks or drops (classic: p_C)." },
	  print_probability },
	{ { "overload_active", GAUGE, NULL, "1 while there is an overload event." },
	  print_overload_active },
	{ { "overload_events", COUNTER, NULL, "Overload events that have begun." },
	  print_overload_events },
	{ { "overload_seconds", COUNTER, "seconds", "Time of all overload events." },
	  print_overload_time },
	{ { "tcx_attached", GAUGE, NULL,
	    "1 if the tcx program, which marks, is attached; missing if not known." },
	  print_tcx_attached },
	{ { "guard_convicts", GAUGE, NULL,
	    "Flows that the guard keeps out of L now; missing if not known." },
	  print_convicts },
	{ { "guard_worst_score_ratio", GAUGE, "ratio",
	    "Highest blame of a flow, as a part of what is too much; missing if not known." },
	  print_worst_score },
	{ { "shaper_rate_bytes_per_second", GAUGE, NULL, "Rate of the shaper; 0: there is none." },
	  print_rate },
	{ { "split_gso", GAUGE, NULL,
	    "1 if all GSO packets are to be split, 0 if some are not, or none." },
	  print_split_gso },
};

/* The queues of an mq, and not their sum, which Prometheus makes itself, unless they are one DualQ.
 */
static void print_family(const struct family *family, const struct samples *list,
			 enum exposition exposition)
{
	metric_head(&family->metric, exposition);
	for (size_t i = 0; i < list->count; i++) {
		if (sample_is_dualq(&list->items[i]))
			family->print(family, &list->items[i]);
	}
}

/* ---- rows of stats.h ----------------------------------------------------------------- */

static bool is_same_metric(const struct stat_row *row, const struct stat_row *other)
{
	return row->metric && other->metric && !strcmp(row->metric, other->metric);
}

/* The samples of a metric that begins with this row, in `of`; several have their cause. */
static void print_values(const struct family *family, const struct stat_row *first,
			 const struct sample *sample, const char *queue, const void *of)
{
	const bool by_cause = is_same_metric(first, first + 1);

	for (const struct stat_row *row = first; is_same_metric(first, row); row++) {
		begin_sample(family, NULL, sample, queue, by_cause ? "cause" : NULL,
			     by_cause ? strchr(row->member, '_') + 1 : NULL);
		if (stat_is_time(row))
			printf("%.9g\n", seconds((__u64)stat_value(row, of)));
		else
			printf("%llu\n", (__u64)stat_value(row, of));
	}
}

/* `aqm`: of which the rows are; NULL: of all. */
static void print_rows(const struct stat_row *rows, bool of_queues, const struct aqm *aqm,
		       const struct samples *list, enum exposition exposition)
{
	for (const struct stat_row *row = rows; row->member; row++) {
		char help[160];
		const struct family family = { { row->metric, row->is_counter ? COUNTER : GAUGE,
						 stat_is_time(row) ? "seconds" : row->unit, help },
					       NULL };

		if (!row->metric || (row != rows && is_same_metric(row - 1, row)))
			continue;
		if (is_same_metric(row, row + 1))
			snprintf(help, sizeof(help), "%c%s %.*s, by cause (man bpf_dualpi2).",
				 toupper(row->unit[0]), row->unit + 1,
				 (int)strcspn(row->metric, "_"), row->metric);
		else
			snprintf(help, sizeof(help), "%c%s %s.", toupper(family.metric.unit[0]),
				 family.metric.unit + 1, row->meaning);
		metric_head(&family.metric, exposition);
		for (size_t i = 0; i < list->count; i++) {
			const struct sample *sample = &list->items[i];
			const struct dualpi2_stats *stats = &sample->total.stats;

			if (!sample_is_dualq(sample) || (aqm && aqm_proper(sample->aqm) != aqm))
				continue;
			if (!of_queues) {
				print_values(&family, row, sample, NULL, stats);
				continue;
			}
			print_values(&family, row, sample, METRIC_L, &stats->l);
			print_values(&family, row, sample, METRIC_C, &stats->c);
		}
	}
}

/* ---- interfaces with a file of options ------------------------------------------------- */

static void print_configured(const struct configured *configured, enum exposition exposition)
{
	static const struct metric known = {
		"configuration_known", GAUGE, NULL,
		"1 if it is known which interfaces are configured, 0 if not."
	};
	static const struct metric attached = {
		"configured_attached", GAUGE, NULL,
		"Of a direction that is configured: 1 if it has a qdisc, 0 if not."
	};

	metric_head(&known, exposition);
	printf("dualpi2_%s %d\n", known.name, configured->is_known);
	metric_head(&attached, exposition);
	for (size_t i = 0; i < configured->count; i++) {
		const struct configured_direction *item = &configured->items[i];

		if (item->attached < 0)
			continue;
		metric_begin_of(&attached, item->ifname, item->direction);
		metric_value();
		printf("%d\n", item->attached);
	}
}

void openmetrics_print(const struct samples *list, const struct configured *configured,
		       enum exposition exposition)
{
	print_rows(queue_rows, true, NULL, list, exposition);
	print_rows(qdisc_rows, false, NULL, list, exposition);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		print_family(&families[i], list, exposition);
	for (size_t i = 0; aqm_is_listed(i); i++) {
		print_rows(aqms[i]->gauges, false, aqms[i], list, exposition);
		if (aqms[i]->has_values)
			print_family(&values_family, list, exposition);
	}
	if (configured)
		print_configured(configured, exposition);
	metrics_end(exposition);
}
