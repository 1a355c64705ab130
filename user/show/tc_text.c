// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Field by field what tc prints of the native qdisc (iproute2's q_dualpi2.c): the order, the
 * units, the digits, the blanks at the ends of lines and the empty line at the end. What we
 * have beyond it comes at the end of the options, and only where it is not the default.
 */
#include "show/show.h"

#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <stdio.h>

#include "aqm/params.h"
#include "cli/format.h"
#include "kernel/qdisc.h"

/* A word of tc's is the name of our option with underscores. */
static void print_words(const char *text)
{
	for (; *text; text++)
		putchar(*text == '-' ? '_' : *text);
	putchar(' ');
}

static void print_time(uint64_t ns)
{
	const uint64_t us = sample_us(ns);

	if (us >= 1000000)
		printf("%.3gs ", (double)us / 1000000);
	else if (us >= 1000)
		printf("%.3gms ", (double)us / 1000);
	else
		printf("%" PRIu64 "us ", us);
}

/* Is this a multiple of `unit`, give or take less than `tolerance`? */
static bool about_multiple(uint64_t bytes, uint64_t unit, uint64_t tolerance, uint64_t *multiple)
{
	*multiple = (bytes + unit / 2) / unit;
	return bytes < *multiple * unit + tolerance && bytes + tolerance > *multiple * unit;
}

static void print_backlog(uint64_t bytes)
{
	uint64_t number;

	if (bytes >= 1 << 20 && about_multiple(bytes, 1 << 20, 1024, &number))
		printf(" backlog %" PRIu64 "Mb", number);
	else if (bytes >= 1 << 10 && about_multiple(bytes, 1 << 10, 16, &number))
		printf(" backlog %" PRIu64 "Kb", number);
	else
		printf(" backlog %" PRIu64 "b", bytes);
}

static void print_place(const struct sample *sample)
{
	char parent[FORMAT_MAX], name[NAME_SHOWN_MAX];

	printf("qdisc %s %x: dev %s ", sample_kind(sample), sample->total.stats.handle >> 16,
	       sample_name(sample->device, name));
	if (sample->key.parent == TC_H_ROOT)
		printf("root ");
	else
		printf("parent %s ", format_class(sample->key.parent, parent));
	if (sample->refcnt != 1)
		printf("refcnt %u ", sample->refcnt);
}

static void print_param(const struct option_spec *spec, const struct dualpi2_params *params)
{
	const uint64_t value = params_value(spec, params);
	char text[OPTION_TEXT_MAX];

	print_words(spec->name);
	if (spec->kind == KIND_TIME || (spec->kind == KIND_STEP && !(value & STEP_IN_PACKETS)))
		print_time(value);
	else if (spec->kind == KIND_SIZE)
		printf("%" PRIu64 "B ", value);
	else if (spec->kind == KIND_QLEN)
		printf("%" PRIu64 "p ", value);
	else
		printf("%s ", value_show(spec, value, text));
}

/* What sch_dualpi2 or the AQM has is always shown, and for a choice its flag. */
static void print_first_row(const struct option_spec *spec, const struct dualpi2_params *params)
{
	if (spec->name && value_is_taken(spec) && spec->size)
		print_param(spec, params);
	else if (spec->json)
		print_words(params_flag(spec, params));
}

static void print_options(const struct sample *sample)
{
	const struct dualpi2_params params = sample_params(&sample->total.stats);
	const struct option_spec *spec;

	for (size_t i = 0; (spec = params_row(sample->aqm, i)); i++) {
		if (params_row_is_first(spec))
			print_first_row(spec, &params);
		else if (value_is_taken(spec) && params_differ(spec, &sample->total.stats.params))
			print_param(spec, &params);
	}
}

static void print_counters(const struct qdisc_counters *counters)
{
	printf(" Sent %" PRIu64 " bytes %" PRIu64 " pkt (dropped %u, overlimits %u requeues %u) \n",
	       counters->bytes, counters->packets, counters->drops, counters->overlimits,
	       counters->requeues);
	print_backlog(counters->backlog);
	printf(" %up requeues %u\n", counters->qlen, counters->requeues);
}

static void print_xstats(const struct dualpi2_stats *stats)
{
	const struct dualpi2_queue *l = &stats->l, *c = &stats->c;

	printf("prob %f delay_c %lluus delay_l %lluus\n", sample_probability(stats->levels.prob),
	       sample_us(c->head_age_ns), sample_us(l->head_age_ns));
	printf("pkts_in_c %llu pkts_in_l %llu maxq %u\n", c->counters.packets_in,
	       l->counters.packets_in, stats->maxq);
	printf("ecn_mark %llu step_mark %llu\n",
	       dualpi2_marks(&l->counters) + dualpi2_marks(&c->counters),
	       l->counters.mark_native + c->counters.mark_native);
	printf("credit %d (%s)\n", stats->credit, stats->credit > 0 ? "C-queue" : "L-queue");
	printf("memory_used %u (max %u) of memory limit %u\n\n", stats->memory_used,
	       stats->max_memory_used, stats->memlimit);
}

void tc_print(const struct samples *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sample *sample = &list->items[i];

		print_place(sample);
		if (sample_is_dualq(sample))
			print_options(sample);
		printf("\n");
		print_counters(&sample->counters);
		if (sample_is_dualq(sample))
			print_xstats(&sample->total.stats);
	}
}
