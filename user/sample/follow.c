// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "sample/clock.h"
#include "sample/sampler.h"

/* Take the next sample, which then stands in `before`. */
static bool visit_next(struct sampler *sampler, struct samples *before, follow_visit visit,
		       void *data)
{
	struct samples samples;

	if (!sampler_take(sampler, &samples))
		return false;
	interval_since(before, &samples);
	free(before->items);
	*before = samples;
	return visit(&samples, data);
}

bool follow(struct sampler *sampler, uint64_t interval_ns, uint64_t count, follow_visit visit,
	    void *data)
{
	enum pace_event event = PACE_DUE;
	struct samples before;
	struct pace pace;
	bool followed;

	if (!sampler_take(sampler, &before))
		return false;
	followed = before.count ? pace_start(&pace, interval_ns) : sampler_has_nothing(sampler);
	for (uint64_t left = count; followed && event != PACE_END && (left || !count);) {
		event = pace_wait(&pace, -1);
		if (event != PACE_DUE)
			continue;
		followed = visit_next(sampler, &before, visit, data);
		left--;
	}
	free(before.items);
	return followed;
}
