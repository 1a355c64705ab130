// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/names.h"

#include "kernel/link.h"

bool names_find(const char *ifname, struct config_names *names)
{
	struct link link;
	int found = link_look_for(ifname, &link);

	*names = (struct config_names){};
	if (found < 0 || (found && !link_each_name(link.ifindex, config_add_name, names)))
		return false;
	if (!names->count)
		config_add_name(ifname, names);
	return true;
}
