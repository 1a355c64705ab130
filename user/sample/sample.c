// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <stdio.h>
#include <time.h>

#include "pi2.h"

const char *figures_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, old_name);
	return name;
}

/* Two clocks are not read at the same moment. */
#define CLOCK_NOISE_S 0.001

static double seconds(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / DUALPI2_NSEC_PER_SEC;
}

__u64 figures_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * DUALPI2_NSEC_PER_SEC + now.tv_nsec;
}

__u64 figures_head_age(const struct dualpi2_stats *stats, const struct dualpi2_queue *queue)
{
	if (!queue->head_ns || queue->head_ns > stats->refreshed_ns)
		return 0;
	return stats->refreshed_ns - queue->head_ns;
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
	/* k is 0 if somebody else wrote to the map; then there is no 1/k^2. */
	const __u32 p_cmax =
		params->coupling ? pi2_p_cmax(params->p_cmax, params->coupling) : params->p_cmax;

	return (double)p_cmax / PI2_PROB_MAX;
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
