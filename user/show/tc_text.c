// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Field by field what tc prints of the native qdisc (iproute2's q_dualpi2.c): the order, the
 * units, the digits, the blanks at the ends of lines and the empty line at the end. What we
 * have beyond it comes at the end of the options, and only where it is not the default.
 */
#include "show/tc_text.h"

#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <stdio.h>

#include "aqm/pi2.h"
#include "cli/format.h"
#include "cli/params.h"
#include "attach/tree.h"

/* A word of tc's is the name of our option with underscores. */
static void print_words(const char *text)
{
	for (; *text; text++)
		putchar(*text == '-' ? '_' : *text);
	putchar(' ');
}

static void print_time(const char *name, uint64_t ns)
{
	const uint64_t us = sample_us(ns);

	if (us >= 1000000)
		printf("%s %.3gs ", name, (double)us / 1000000);
	else if (us >= 1000)
		printf("%s %.3gms ", name, (double)us / 1000);
	else
		printf("%s %" PRIu64 "us ", name, us);
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
	char parent[FORMAT_MAX];

	printf("qdisc %s %x: dev %s ", sample->is_sum ? MQ_KIND : DUALPI2_KIND,
	       sample->stats.handle >> 16, sample->ifname);
	if (sample->key.parent == TC_H_ROOT)
		printf("root ");
	else
		printf("parent %s ", format_class(sample->key.parent, parent));
	if (sample->refcnt != 1)
		printf("refcnt %u ", sample->refcnt);
}

static void print_native_options(const struct dualpi2_stats *stats)
{
	const struct dualpi2_params *params = &stats->params;
	char alpha[FORMAT_MAX], beta[FORMAT_MAX];

	printf("limit %up memlimit %uB ", params->limit, stats->memlimit);
	print_time("target", aqm_own(params)->target_ns);
	print_time("tupdate", aqm_own(params)->tupdate_ns);
	printf("alpha %s beta %s ", format_gain(aqm_own(params)->alpha, alpha),
	       format_gain(aqm_own(params)->beta, beta));
	if (params->step_in_packets)
		printf("step_thresh %up ", params->step_packets);
	else
		print_time("step_thresh", params->step_ns);
	printf("min_qlen_step %up coupling_factor %u ", params->min_qlen_step, params->coupling);
	print_words(params_choice(SLOT_OVERLOAD, params));
	print_words(params_choice(SLOT_DROP, params));
	printf("classic_protection %u%% ", params->classic_protection);
	print_words(params_choice(SLOT_ECN, params));
	print_words(params_choice(SLOT_SPLIT, params));
}

static void print_own_options(const struct dualpi2_params *params)
{
	static const enum param own[] = {
		PARAM_RATE,	    PARAM_OVERHEAD, PARAM_MPU,	  PARAM_L4S_DSCP,
		PARAM_CLASSIC_DSCP, PARAM_L_AQM,    PARAM_P_CMAX,
	};
	char value[OPTION_TEXT_MAX];

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (!params_differ(own[i], params))
			continue;
		print_words(param_specs[own[i]].name);
		printf("%s ", param_specs[own[i]].format(params, value));
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
	const struct sample_xstats xstats = sample_xstats(stats);

	printf("prob %f delay_c %" PRIu64 "us delay_l %" PRIu64 "us\n", xstats.prob,
	       xstats.delay_c_us, xstats.delay_l_us);
	printf("pkts_in_c %" PRIu64 " pkts_in_l %" PRIu64 " maxq %u\n", xstats.packets_in_c,
	       xstats.packets_in_l, stats->maxq);
	printf("ecn_mark %" PRIu64 " step_mark %" PRIu64 "\n", xstats.ecn_mark, xstats.step_mark);
	printf("credit %d (%s)\n", stats->credit, stats->credit > 0 ? "C-queue" : "L-queue");
	printf("memory_used %u (max %u) of memory limit %u\n\n", stats->memory_used,
	       stats->max_memory_used, stats->memlimit);
}

void tc_print(const struct samples *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sample *sample = &list->items[i];

		print_place(sample);
		if (!sample->is_sum) {
			print_native_options(&sample->stats);
			print_own_options(&sample->stats.params);
		}
		printf("\n");
		print_counters(&sample->counters);
		if (!sample->is_sum)
			print_xstats(&sample->stats);
	}
}
