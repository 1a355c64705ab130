// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include "cli/message.h"
#include "dualpi2.h"

/* Two clocks are not read at the same moment. */
#define CLOCK_NOISE_NS (__s64) DUALPI2_NSEC_PER_MSEC

static int ends = -1; /* a signalfd of what ends the tool, open for as long as it runs */

static __u64 read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * DUALPI2_NSEC_PER_SEC + now.tv_nsec;
}

__u64 clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double clock_unix_time(__u64 ns)
{
	/* Kept, so that one moment is always told as the same; but the clock may be set. */
	static __s64 boot_ns;
	const __s64 boot_now_ns = (__s64)(read_clock(CLOCK_REALTIME) - clock_now());

	if (llabs(boot_now_ns - boot_ns) > CLOCK_NOISE_NS)
		boot_ns = boot_now_ns;
	return ((double)boot_ns + (double)ns) / DUALPI2_NSEC_PER_SEC;
}

void pace_change(struct pace *pace, __u64 interval_ns)
{
	*pace = (struct pace){ .interval_ns = interval_ns, .due_ns = clock_now() + interval_ns };
}

bool pace_start(struct pace *pace, __u64 interval_ns)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pace_change(pace, interval_ns);
	ends = signalfd(ends, &signals, SFD_CLOEXEC);
	return ends >= 0 || fail(errno, "cannot wait for signals: %s", strerror(errno));
}

enum pace_event pace_wait(struct pace *pace, int input)
{
	struct pollfd files[] = {
		{ .fd = ends, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};
	__u64 now = clock_now(), left_ns = now < pace->due_ns ? pace->due_ns - now : 0;
	const struct timespec left = {
		.tv_sec = (time_t)(left_ns / DUALPI2_NSEC_PER_SEC),
		.tv_nsec = (long)(left_ns % DUALPI2_NSEC_PER_SEC),
	};

	ppoll(files, 2, &left, NULL);
	if (files[0].revents || files[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		return PACE_END;
	now = clock_now();
	if (now < pace->due_ns)
		return PACE_INPUT;
	/* Whoever was stopped for a while does not catch up. */
	pace->due_ns += pace->interval_ns;
	if (pace->due_ns < now)
		pace->due_ns = now + pace->interval_ns;
	return PACE_DUE;
}
