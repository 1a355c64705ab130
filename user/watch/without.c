// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* In place of the live view, where ncurses was not found. */
#include "watch/watch.h"

#include "cli/message.h"

static bool refuse(void)
{
	return fail(0, "--watch: this was built without ncurses: install libncurses-dev and build "
		       "it again");
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	(void)sampler;
	(void)interval_ns;
	return refuse();
}

bool watch_subscribers(struct sampler *sampler, uint64_t interval_ns)
{
	(void)sampler;
	(void)interval_ns;
	return refuse();
}
