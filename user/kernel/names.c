// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/names.h"

#include <stdlib.h>

#include "kernel/link.h"

/* All names of an interface. False: some cannot be read, which is reported. */
static bool read_names(const char *ifname, struct config_names *names)
{
	struct link link;
	int found = link_look_for(ifname, &link);

	if (found < 0 || (found && !link_each_name(link.ifindex, config_add_name, names)))
		return false;
	if (!names->count)
		config_add_name(ifname, names);
	return !names->is_cut;
}

bool names_find_file(const char *ifname, const char *dir, bool or_default, char path[PATH_MAX])
{
	struct config_names names = {};
	bool found = read_names(ifname, &names) && config_find(dir, &names, or_default, path);

	free(names.of);
	return found;
}
