// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/follow.h"

#include <stdlib.h>

#include "sample/interval.h"
#include "sample/pace.h"

static bool show_interval(const struct figures_list *before, const struct figures_list *sample,
			  follow_visit visit, void *data)
{
	struct figures_list intervals;
	bool shown;

	if (!interval_list(before, sample, &intervals))
		return false;
	shown = visit(sample, &intervals, data);
	free(intervals.items);
	return shown;
}

bool follow(struct sampler *sampler, uint64_t interval_ns, uint64_t count, follow_visit visit,
	    void *data)
{
	struct figures_list before, sample;
	struct pace pace;
	bool followed = true;

	if (!sampler_take(sampler, &before))
		return false;
	if (!before.count) {
		free(before.items);
		return sampler_has_nothing(sampler);
	}
	pace_start(&pace, interval_ns);
	for (uint64_t i = 0; followed && (!count || i < count) && pace_wait(&pace); i++) {
		followed = sampler_take(sampler, &sample);
		if (!followed)
			break;
		followed = show_interval(&before, &sample, visit, data);
		free(before.items);
		before = sample;
	}
	free(before.items);
	return followed;
}
