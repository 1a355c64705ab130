/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sample after sample, at even distances. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "sample/sampler.h"

/* Called with a sample and what happened since the one before it; both are freed behind it.
 * False, with a report (message.h), ends it.
 */
typedef bool (*follow_visit)(const struct samples *samples, const struct samples *intervals,
			     void *data);

/* Take a sample every `interval_ns`, `count` times (0: without end) or until a signal
 * (pace.h). That there is nothing to begin with is a failure.
 */
bool follow(struct sampler *sampler, uint64_t interval_ns, uint64_t count, follow_visit visit,
	    void *data);

#endif /* FOLLOW_H */
