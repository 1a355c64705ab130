// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "document.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

static __u64 to_us(__u64 ns)
{
	return (ns + DUALPI2_NSEC_PER_USEC / 2) / DUALPI2_NSEC_PER_USEC;
}

/* A counter of the X-macro: `drop_pi2` is "drop-pi2". */
static void print_counter(const char *member, __u64 value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s", member);
	for (char *c = key; *c; c++) {
		if (*c == '_')
			*c = '-';
	}
	json_uint(key, value);
}

static void print_delays(const struct dualpi2_histogram *histogram)
{
	json_open_object("delay");
	json_uint("mean", to_us(figures_mean_delay(histogram)));
	json_uint("p50", to_us(histogram_quantile(histogram, 500)));
	json_uint("p99", to_us(histogram_quantile(histogram, 990)));
	json_uint("p99.9", to_us(histogram_quantile(histogram, 999)));
	json_uint("max", to_us(histogram->max_ns));
	json_close_object();
}

static void print_queue(const char *key, const struct dualpi2_queue *queue,
			const struct dualpi2_histogram *histogram)
{
	json_open_object(key);
#define DUALPI2_X(member, unit, meaning) print_counter(#member, queue->member);
	DUALPI2_QUEUE_COUNTERS(DUALPI2_X)
#undef DUALPI2_X
	json_uint("drop-bytes", queue->drop_bytes);
	json_uint("backlog-packets", queue->backlog_packets);
	json_uint("backlog-bytes", queue->backlog_bytes);
	print_delays(histogram);
	json_close_object();
}

/* Options that native has and we do not (yet) are shown with what we do. */
static void print_options(const struct dualpi2_stats *stats)
{
	const struct dualpi2_params *params = &stats->params;

	json_open_object("options");
	json_uint("limit", params->limit);
	json_uint("memory-limit", stats->memlimit);
	json_uint("target", to_us(params->target_ns));
	json_uint("tupdate", to_us(params->tupdate_ns));
	json_float("alpha", params->alpha / 256.0);
	json_float("beta", params->beta / 256.0);
	if (params->step_in_packets)
		json_uint("step-thresh-pkts", params->step_packets);
	else
		json_uint("step-thresh-us", to_us(params->step_ns));
	json_uint("min-qlen-step", 0);
	json_uint("coupling", params->coupling);
	json_string("drop-overload", "drop");
	json_string("drop-early", "drop-dequeue");
	json_uint("c-protection", params->classic_protection);
	json_string("ecn-mask", "l4s-ect");
	json_bool("split-gso", false);
	json_uint("rate", params->rate * 8);
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

/* What native has in its struct tc_dualpi2_xstats. */
static void print_xstats(const struct dualpi2_stats *stats)
{
	const struct dualpi2_queue *l = &stats->l, *c = &stats->c;

	json_float("prob", figures_probabilities(stats).p);
	json_uint("delay-c", to_us(figures_head_age(stats, c)));
	json_uint("delay-l", to_us(figures_head_age(stats, l)));
	json_uint("pkts-in-c", c->packets_in);
	json_uint("pkts-in-l", l->packets_in);
	json_uint("maxq", stats->maxq);
	json_uint("ecn-mark", l->mark_step + l->mark_pi2 + c->mark_step + c->mark_pi2);
	json_uint("step-mark", l->mark_step + c->mark_step);
	json_int("credit", stats->credit);
	json_uint("memory-used", stats->memory_used);
	json_uint("max-memory-used", stats->max_memory_used);
	json_uint("memory-limit", stats->memlimit);
}

static void print_place(const struct figures *figures)
{
	char handle[32];

	json_string("kind", DUALPI2_KIND);
	snprintf(handle, sizeof(handle), "%x:", figures->stats.handle >> 16);
	json_string("handle", handle);
	json_string("dev", figures->ifname);
	if (figures->key.parent == TC_H_ROOT) {
		json_bool("root", true);
		return;
	}
	snprintf(handle, sizeof(handle), "%x:%x", figures->key.parent >> 16,
		 figures->key.parent & 0xffff);
	json_string("parent", handle);
}

static void print_instance(const struct figures *figures)
{
	const struct dualpi2_stats *stats = &figures->stats;

	json_open_object(NULL);
	print_place(figures);
	print_options(stats);
	print_counters(&figures->counters);
	print_xstats(stats);
	json_uint("no-verdict", stats->no_verdict);
	json_bool("tcx-attached", figures->tcx_attached);
	json_uint("updates", stats->updates);
	print_queue("l-queue", &stats->l, &figures->delays.l);
	print_queue("c-queue", &stats->c, &figures->delays.c);
	json_close_object();
}

void document_print(const struct figures_list *list)
{
	json_open_array(NULL);
	for (size_t i = 0; i < list->count; i++)
		print_instance(&list->items[i]);
	json_close_array();
}
