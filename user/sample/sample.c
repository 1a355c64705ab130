// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <stdio.h>

#include "pi2.h"

const char *sample_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, old_name);
	return name;
}

__u64 sample_head_age(const struct dualpi2_stats *stats, const struct dualpi2_queue *queue)
{
	if (!queue->head_ns || queue->head_ns > stats->refreshed_ns)
		return 0;
	return stats->refreshed_ns - queue->head_ns;
}

struct sample_xstats sample_xstats(const struct dualpi2_stats *stats)
{
	const struct dualpi2_queue *l = &stats->l, *c = &stats->c;
	__u64 step_mark = l->mark_step + c->mark_step;

	return (struct sample_xstats){
		.prob = sample_probabilities(stats).p,
		.delay_c_us = sample_us(sample_head_age(stats, c)),
		.delay_l_us = sample_us(sample_head_age(stats, l)),
		.packets_in_c = c->packets_in,
		.packets_in_l = l->packets_in,
		.ecn_mark = step_mark + l->mark_pi2 + c->mark_pi2,
		.step_mark = step_mark,
	};
}

double sample_p_cmax(const struct dualpi2_params *params)
{
	/* k is 0 if somebody else wrote to the map; then there is no 1/k^2. */
	const __u32 p_cmax =
		params->coupling ? pi2_p_cmax(params->p_cmax, params->coupling) : params->p_cmax;

	return (double)p_cmax / PI2_PROB_MAX;
}

struct probabilities sample_probabilities(const struct dualpi2_stats *stats)
{
	double p = (double)stats->prob / PI2_PROB_MAX;
	double coupled = p * stats->params.coupling;

	return (struct probabilities){
		.p = p,
		.classic = p * p,
		.l4s = coupled < 1 ? coupled : 1,
	};
}

__u64 sample_mean_delay(const struct dualpi2_histogram *histogram)
{
	__u64 count = histogram_count(histogram);

	return count ? histogram->sum_ns / count : 0;
}
