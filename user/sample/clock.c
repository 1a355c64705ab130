// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/clock.h"

#include <time.h>

#include "dualpi2.h"

/* Two clocks are not read at the same moment. */
#define CLOCK_NOISE_S 0.001

static double seconds(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / DUALPI2_NSEC_PER_SEC;
}

__u64 clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * DUALPI2_NSEC_PER_SEC + now.tv_nsec;
}

double clock_unix_time(__u64 ns)
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
