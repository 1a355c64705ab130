// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/openmetrics.h"

#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "cli/format.h"

/* Edges of the buckets that are shown: two in a power of two, from 32.768 us to 1.07 s. Ours are
 * edges of them, too; that a value which is just an edge belongs to the bucket above makes no
 * difference to anybody.
 */
#define FIRST_EDGE (6 * HISTOGRAM_SUBS)
#define LAST_EDGE (21 * HISTOGRAM_SUBS)
#define EDGE_STEP (HISTOGRAM_SUBS / 2)

enum type { COUNTER, GAUGE, HISTOGRAM };

struct family {
	const char *name; /* without "dualpi2_", and of a counter "_total" */
	enum type type;
	const char *unit; /* NULL: none */
	const char *help;
	void (*print)(const struct family *family, const struct sample *sample);
};

/* ---- samples ----------------------------------------------------------------------- */

/* A label's value: the name of an interface may have any character but '/' and blanks. */
static void print_escaped(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			printf("\\n");
		else if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

/* Up to its value. `queue` and the pair of `label` and `value` may be NULL. */
static void begin_sample(const struct family *family, const char *suffix,
			 const struct sample *sample, const char *queue, const char *label,
			 const char *value)
{
	char class[FORMAT_MAX];

	printf("dualpi2_%s%s{device=\"", family->name, suffix);
	print_escaped(sample->ifname);
	printf("\",parent=\"%s\"",
	       sample->key.parent == TC_H_ROOT ? "root" : format_class(sample->key.parent, class));
	if (queue)
		printf(",queue=\"%s\"", queue);
	if (label)
		printf(",%s=\"%s\"", label, value);
	printf("} ");
}

static const char *suffix_of(const struct family *family)
{
	return family->type == COUNTER ? "_total" : "";
}

static void print_uint(const struct family *family, const struct sample *sample, const char *queue,
		       __u64 value)
{
	begin_sample(family, suffix_of(family), sample, queue, NULL, NULL);
	printf("%llu\n", value);
}

static void print_double(const struct family *family, const struct sample *sample,
			 const char *queue, double value)
{
	begin_sample(family, suffix_of(family), sample, queue, NULL, NULL);
	printf("%.9g\n", value);
}

static double seconds(__u64 ns)
{
	return (double)ns / DUALPI2_NSEC_PER_SEC;
}

/* "drop_no_memory", whose first word is the family's, is the cause "no_memory". */
static void print_cause(const struct family *family, const struct sample *sample, const char *queue,
			const char *member, __u64 value)
{
	begin_sample(family, suffix_of(family), sample, queue, "cause", strchr(member, '_') + 1);
	printf("%llu\n", value);
}

#define L_QUEUE "l4s"
#define C_QUEUE "classic"

/* A family with a sample for each queue. */
#define DEFINE_OF_QUEUES(name, member)                                                     \
	static void print_##name(const struct family *family, const struct sample *sample) \
	{                                                                                  \
		print_uint(family, sample, L_QUEUE, sample->stats.l.member);               \
		print_uint(family, sample, C_QUEUE, sample->stats.c.member);               \
	}

DEFINE_OF_QUEUES(packets_in, counters.packets_in)
DEFINE_OF_QUEUES(bytes_in, counters.bytes_in)
DEFINE_OF_QUEUES(packets_out, counters.packets_out)
DEFINE_OF_QUEUES(bytes_out, counters.bytes_out)
DEFINE_OF_QUEUES(drop_bytes, counters.drop_bytes)
DEFINE_OF_QUEUES(backlog_packets, backlog_packets)
DEFINE_OF_QUEUES(backlog_bytes, backlog_bytes)

/* A family with one sample. */
#define DEFINE_OF_BOTH(name, print, value)                                                 \
	static void print_##name(const struct family *family, const struct sample *sample) \
	{                                                                                  \
		print(family, sample, NULL, value);                                        \
	}

DEFINE_OF_BOTH(base_probability, print_double, sample_probabilities(&sample->stats).p)
DEFINE_OF_BOTH(overload_active, print_uint, sample->stats.overload.active)
DEFINE_OF_BOTH(overload_events, print_uint, sample->stats.overload.events)
DEFINE_OF_BOTH(overload_time, print_double, seconds(sample->stats.overload.total_ns))
DEFINE_OF_BOTH(bypassed_tcx, print_uint, sample->stats.bypassed_tcx)
DEFINE_OF_BOTH(mispredicted, print_uint, sample->stats.mispredicted)
DEFINE_OF_BOTH(gso_split, print_uint, sample->stats.gso_split)
DEFINE_OF_BOTH(gso_whole, print_uint, sample->stats.gso_whole)
DEFINE_OF_BOTH(memory_used, print_uint, sample->stats.memory_used)
DEFINE_OF_BOTH(rate, print_uint, sample->stats.params.rate)
DEFINE_OF_BOTH(updates, print_uint, sample->stats.updates)

static void print_probability(const struct family *family, const struct sample *sample)
{
	const struct probabilities now = sample_probabilities(&sample->stats);

	print_double(family, sample, L_QUEUE, now.l4s);
	print_double(family, sample, C_QUEUE, now.classic);
}

static void print_queue_marks(const struct family *family, const struct sample *sample,
			      const char *name, const struct dualpi2_queue *queue)
{
	print_cause(family, sample, name, "mark_native", queue->counters.mark_native);
	print_cause(family, sample, name, "mark_coupled", queue->counters.mark_coupled);
}

static void print_marks(const struct family *family, const struct sample *sample)
{
	print_queue_marks(family, sample, L_QUEUE, &sample->stats.l);
	print_queue_marks(family, sample, C_QUEUE, &sample->stats.c);
}

static void print_queue_drops(const struct family *family, const struct sample *sample,
			      const char *name, const struct dualpi2_queue *queue)
{
#define DUALPI2_X(member) print_cause(family, sample, name, #member, queue->counters.member);
	DUALPI2_QUEUE_DROPS(DUALPI2_X)
#undef DUALPI2_X
}

static void print_drops(const struct family *family, const struct sample *sample)
{
	print_queue_drops(family, sample, L_QUEUE, &sample->stats.l);
	print_queue_drops(family, sample, C_QUEUE, &sample->stats.c);
}

/* Nobody but the owner of the pins knows. */
static void print_tcx_attached(const struct family *family, const struct sample *sample)
{
	if (sample->tcx_known)
		print_uint(family, sample, NULL, sample->tcx_attached);
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
	print_queue_delays(family, sample, L_QUEUE, &sample->delays.l);
	print_queue_delays(family, sample, C_QUEUE, &sample->delays.c);
}

/* ---- families ------------------------------------------------------------------------ */

static const struct family families[] = {
	{ "received_packets", COUNTER, "packets", "Packets that arrived for the queue.",
	  print_packets_in },
	{ "received_bytes", COUNTER, "bytes", "Bytes that arrived for the queue.", print_bytes_in },
	{ "forwarded_packets", COUNTER, "packets", "Packets forwarded to the device.",
	  print_packets_out },
	{ "forwarded_bytes", COUNTER, "bytes", "Bytes forwarded to the device.", print_bytes_out },
	{ "marked_packets", COUNTER, "packets",
	  "Packets CE-marked, by cause: step or ramp of the L queue, or PI2.", print_marks },
	{ "dropped_packets", COUNTER, "packets", "Packets dropped, by cause (man bpf_dualpi2).",
	  print_drops },
	{ "dropped_bytes", COUNTER, "bytes", "Bytes of all dropped packets.", print_drop_bytes },
	{ "queued_packets", GAUGE, "packets", "Packets in the queue now.", print_backlog_packets },
	{ "queued_bytes", GAUGE, "bytes", "Bytes in the queue now.", print_backlog_bytes },
	{ "delay_seconds", HISTOGRAM, "seconds",
	  "How long the forwarded packets have waited in the queue.", print_delays },
	{ "base_probability_ratio", GAUGE, "ratio", "p' of the PI controller, 0 to 1.",
	  print_base_probability },
	{ "probability_ratio", GAUGE, "ratio",
	  "Share of packets that PI2 marks (l4s: p_CL), or marks or drops (classic: p_C).",
	  print_probability },
	{ "overload_active", GAUGE, NULL, "1 while there is an overload event.",
	  print_overload_active },
	{ "overload_events", COUNTER, NULL, "Overload events that have begun.",
	  print_overload_events },
	{ "overload_seconds", COUNTER, "seconds", "Time of all overload events.",
	  print_overload_time },
	{ "tcx_attached", GAUGE, NULL,
	  "1 if the tcx program, which marks, is attached; missing if not known.",
	  print_tcx_attached },
	{ "bypassed_tcx_packets", COUNTER, "packets",
	  "Packets that did not pass the tcx program, so that they could only be dropped.",
	  print_bypassed_tcx },
	{ "mispredicted_packets", COUNTER, "packets",
	  "Packets whose mark was decided for another queue of the mq.", print_mispredicted },
	{ "gso_split_packets", COUNTER, "packets", "GSO packets that were split.",
	  print_gso_split },
	{ "gso_whole_packets", COUNTER, "packets", "GSO packets that queued whole.",
	  print_gso_whole },
	{ "memory_bytes", GAUGE, "bytes", "Kernel memory of the queued packets.",
	  print_memory_used },
	{ "shaper_rate_bytes_per_second", GAUGE, NULL, "Rate of the shaper; 0: there is none.",
	  print_rate },
	{ "probability_updates", COUNTER, NULL, "Updates of p'.", print_updates },
};

/* The first parameter of an AQM, which is a delay. */
static void print_aqm_delay(const struct family *family, const struct sample *sample)
{
	const struct aqm *aqm = sample->aqm;

	if (aqm->metric && !strcmp(aqm->metric, family->name))
		print_double(family, sample, NULL,
			     seconds(params_value(aqm->options, &sample->stats.params)));
}

static void print_header(const struct family *family, enum exposition exposition)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const char *suffix = exposition == EXPOSITION_PROMETHEUS ? suffix_of(family) : "";

	printf("# HELP dualpi2_%s%s %s\n", family->name, suffix, family->help);
	printf("# TYPE dualpi2_%s%s %s\n", family->name, suffix, types[family->type]);
	if (family->unit && exposition == EXPOSITION_OPENMETRICS)
		printf("# UNIT dualpi2_%s %s\n", family->name, family->unit);
}

/* The queues of an mq, and not their sum, which Prometheus makes itself. */
static void print_family(const struct family *family, const struct samples *list,
			 enum exposition exposition)
{
	print_header(family, exposition);
	for (size_t i = 0; i < list->count; i++) {
		if (!list->items[i].is_sum)
			family->print(family, &list->items[i]);
	}
}

void openmetrics_print(const struct samples *list, enum exposition exposition)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		print_family(&families[i], list, exposition);
	for (size_t i = 0; aqms[i]; i++) {
		const struct family family = {
			aqms[i]->metric, GAUGE, "seconds", aqms[i]->metric_help, print_aqm_delay,
		};

		if (family.name)
			print_family(&family, list, exposition);
	}
	if (exposition == EXPOSITION_OPENMETRICS)
		printf("# EOF\n");
}
