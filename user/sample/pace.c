// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/pace.h"

#include <time.h>

#include "dualpi2.h"
#include "sample/clock.h"

void pace_start(struct pace *pace, uint64_t interval_ns)
{
	sigemptyset(&pace->ends);
	sigaddset(&pace->ends, SIGINT);
	sigaddset(&pace->ends, SIGHUP);
	sigaddset(&pace->ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &pace->ends, NULL);
	pace->interval_ns = interval_ns;
	pace->due_ns = clock_now() + interval_ns;
}

uint64_t pace_left_ns(const struct pace *pace)
{
	uint64_t now = clock_now();

	return now < pace->due_ns ? pace->due_ns - now : 0;
}

/* Whoever was stopped for a while does not catch up. */
void pace_next(struct pace *pace)
{
	uint64_t now = clock_now();

	pace->due_ns += pace->interval_ns;
	if (pace->due_ns < now)
		pace->due_ns = now + pace->interval_ns;
}

bool pace_wait(struct pace *pace)
{
	uint64_t left_ns;

	do {
		struct timespec left;

		left_ns = pace_left_ns(pace);
		left.tv_sec = (time_t)(left_ns / DUALPI2_NSEC_PER_SEC);
		left.tv_nsec = (long)(left_ns % DUALPI2_NSEC_PER_SEC);
		if (sigtimedwait(&pace->ends, NULL, &left) > 0)
			return false;
	} while (left_ns);
	pace_next(pace);
	return true;
}
