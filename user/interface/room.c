// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/room.h"

#include "check/report.h"
#include "cli/message.h"
#include "dualpi2.h"

size_t room_left(const struct registration *reg)
{
	const int live = registration_lives(reg, NULL);

	/* If that is unknown, the kernel will say. */
	return DUALPI2_MAX_INSTANCES - (live > 0 ? live : 0);
}

bool room_for(const struct registration *reg, const char *label, size_t needed, size_t own)
{
	const size_t room = room_left(reg) + own;

	return needed <= room ||
	       report_obstacle(STATUS_FAILURE, 0, label,
			       "needs %zu qdisc%s of the kind, and of the %u that a host can have "
			       "%zu are free%s: unload some",
			       needed, needed == 1 ? "" : "s", DUALPI2_MAX_INSTANCES, room,
			       own ? " or its own" : "");
}
