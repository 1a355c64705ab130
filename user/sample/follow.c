// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/follow.h"

#include <stdlib.h>

#include "sample/interval.h"
#include "sample/pace.h"

static bool show_interval(const struct samples *before, const struct samples *samples,
			  follow_visit visit, void *data)
{
	struct samples intervals;
	bool shown;

	if (!interval_list(before, samples, &intervals))
		return false;
	shown = visit(samples, &intervals, data);
	free(intervals.items);
	return shown;
}

bool follow(struct sampler *sampler, uint64_t interval_ns, uint64_t count, follow_visit visit,
	    void *data)
{
	struct samples before, samples;
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
		followed = sampler_take(sampler, &samples);
		if (!followed)
			break;
		followed = show_interval(&before, &samples, visit, data);
		free(before.items);
		before = samples;
	}
	free(before.items);
	return followed;
}
