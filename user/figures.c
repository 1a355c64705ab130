// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "figures.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "instance.h"
#include "message.h"
#include "pi2.h"

const char *figures_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, old_name);
	return name;
}

/* Two clocks are not read at the same moment. */
#define CLOCK_NOISE_S 0.001

/* Put the figures of one instance into `figures`; false if it has just gone. */
static bool read_instance(const struct registration *reg, const struct dualpi2_key *key,
			  struct figures *figures)
{
	figures->key = *key;
	if (!stats_read(reg, key, &figures->stats) ||
	    bpf_map_lookup_elem(reg->delays, key, &figures->delays))
		return false;
	figures_ifname(key->ifindex, figures->stats.ifname, figures->ifname);
	figures->tcx_attached = tcx_attached(reg, key);
	return true;
}

static void read_map(const struct registration *reg, __u32 netns, unsigned int ifindex,
		     struct figures_list *list)
{
	struct dualpi2_key key, *previous = NULL;

	while (list->count < DUALPI2_MAX_INSTANCES &&
	       !bpf_map_get_next_key(reg->stats, previous, &key)) {
		previous = &key;
		if (key.netns != netns || (ifindex && key.ifindex != ifindex))
			continue;
		if (read_instance(reg, &key, &list->items[list->count]))
			list->count++;
	}
}

static void take_counters(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct figures_list *list = data;

	for (size_t i = 0; i < list->count; i++) {
		struct figures *figures = &list->items[i];

		if (figures->key.ifindex == (__u32)ifindex &&
		    figures->key.parent == qdisc->parent && !strcmp(qdisc->kind, DUALPI2_KIND)) {
			figures->counters = qdisc->counters;
			figures->refcnt = qdisc->refcnt;
		}
	}
}

static int compare(const void *one, const void *other)
{
	const struct figures *a = one, *b = other;
	int names = strcmp(a->ifname, b->ifname);

	if (names)
		return names;
	return a->key.parent < b->key.parent ? -1 : a->key.parent > b->key.parent;
}

bool figures_collect(const struct registration *reg, unsigned int ifindex,
		     struct figures_list *list)
{
	__u32 netns;

	if (!current_netns(&netns))
		return false;
	*list = (struct figures_list){};
	list->items = calloc(DUALPI2_MAX_INSTANCES, sizeof(*list->items));
	if (!list->items)
		return fail(0, "out of memory: free some");
	stats_refresh(reg);
	read_map(reg, netns, ifindex, list);
	if (!qdisc_dump(take_counters, list)) {
		free(list->items);
		return false;
	}
	qsort(list->items, list->count, sizeof(*list->items), compare);
	return true;
}

__u64 figures_head_age(const struct dualpi2_stats *stats, const struct dualpi2_queue *queue)
{
	if (!queue->head_ns || queue->head_ns > stats->refreshed_ns)
		return 0;
	return stats->refreshed_ns - queue->head_ns;
}

static double seconds(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / DUALPI2_NSEC_PER_SEC;
}

double figures_unix_time(__u64 ns)
{
	/* Kept, so that one moment is always told as the same; but the clock may be set. */
	static double boot;
	struct timespec unix_now, now;
	double boot_now;

	clock_gettime(CLOCK_REALTIME, &unix_now);
	clock_gettime(CLOCK_MONOTONIC, &now);
	boot_now = seconds(&unix_now) - seconds(&now);
	if (boot_now < boot - CLOCK_NOISE_S || boot_now > boot + CLOCK_NOISE_S)
		boot = boot_now;
	return boot + (double)ns / DUALPI2_NSEC_PER_SEC;
}

struct figures_xstats figures_xstats(const struct dualpi2_stats *stats)
{
	const struct dualpi2_queue *l = &stats->l, *c = &stats->c;
	__u64 step_mark = l->mark_step + c->mark_step;

	return (struct figures_xstats){
		.prob = figures_probabilities(stats).p,
		.delay_c_us = figures_us(figures_head_age(stats, c)),
		.delay_l_us = figures_us(figures_head_age(stats, l)),
		.packets_in_c = c->packets_in,
		.packets_in_l = l->packets_in,
		.ecn_mark = step_mark + l->mark_pi2 + c->mark_pi2,
		.step_mark = step_mark,
	};
}

double figures_p_cmax(const struct dualpi2_params *params)
{
	return (double)pi2_p_cmax(params->p_cmax, params->coupling) / PI2_PROB_MAX;
}

struct probabilities figures_probabilities(const struct dualpi2_stats *stats)
{
	double p = (double)stats->prob / PI2_PROB_MAX;
	double coupled = p * stats->params.coupling;

	return (struct probabilities){
		.p = p,
		.classic = p * p,
		.l4s = coupled < 1 ? coupled : 1,
	};
}

__u64 figures_mean_delay(const struct dualpi2_histogram *histogram)
{
	__u64 count = histogram_count(histogram);

	return count ? histogram->sum_ns / count : 0;
}
