// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <stdio.h>

#include "coupling.h"

const char *sample_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, old_name);
	return name;
}

struct sample_xstats sample_xstats(const struct dualpi2_stats *stats)
{
	const struct dualpi2_counters *l = &stats->l.counters, *c = &stats->c.counters;

	return (struct sample_xstats){
		.prob = sample_probabilities(stats).p,
		.delay_c_us = sample_us(stats->c.head_age_ns),
		.delay_l_us = sample_us(stats->l.head_age_ns),
		.packets_in_c = c->packets_in,
		.packets_in_l = l->packets_in,
		.ecn_mark = dualpi2_marks(l) + dualpi2_marks(c),
		.step_mark = l->mark_native + c->mark_native,
	};
}

struct dualpi2_params sample_params(const struct dualpi2_stats *stats)
{
	struct dualpi2_params params = stats->params;

	params.memlimit = stats->memlimit;
	/* k is 0 if somebody else wrote to the map; then there is no 1/k^2. */
	if (params.coupling)
		params.p_cmax = coupling_p_cmax(params.p_cmax, params.coupling);
	return params;
}

struct probabilities sample_probabilities(const struct dualpi2_stats *stats)
{
	return (struct probabilities){
		.p = (double)stats->levels.prob / PROB_MAX,
		.classic = (double)stats->levels.p_c / PROB_MAX,
		.l4s = (double)stats->levels.p_cl / PROB_MAX,
	};
}

__u64 sample_mean_delay(const struct dualpi2_histogram *histogram)
{
	__u64 count = histogram_count(histogram);

	return count ? histogram->sum_ns / count : 0;
}
