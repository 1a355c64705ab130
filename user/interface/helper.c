// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/helper.h"

#include <string.h>

#include "interface/left_over.h"
#include "interface/splitter.h"
#include "check/report.h"

struct search {
	const struct link *link;
	bool is_found;
	struct device device;
};

/* Also the other end of a pair. */
static bool compare(const struct device *device, bool is_recorded, void *data)
{
	struct search *search = data;
	const struct link *link = search->link;
	const bool is_peer = device->kind->peer_prefix && !strcmp(link->kind, device->kind->kind) &&
			     link->peer == (int)device->ifindex;

	(void)is_recorded;
	if (link->ifindex == (int)device->ifindex || is_peer) {
		search->is_found = true;
		search->device = *device;
	}
	return true;
}

static bool refuse(const char *ifname, const struct device *device)
{
	struct link interface;
	int found = link_look((int)device->key.ifindex, &interface);

	if (found < 0)
		return false;
	if (!found)
		return report_obstacle(STATUS_FAILURE, 0, ifname, LEFT_OVER, ifname);
	if (device->kind == &ifb_kind)
		return report_obstacle(STATUS_FAILURE, 0, ifname,
				       "is the ifb for incoming traffic of %s: `dualpi2-load %s "
				       "--ingress` with options, or with --unload, is about it",
				       interface.name, interface.name);
	return report_obstacle(STATUS_FAILURE, 0, ifname,
			       "only splits GSO packets for %s: `dualpi2-load %s` with options, or "
			       "with --unload, is about it",
			       interface.name, interface.name);
}

bool helper_is_none(const char *ifname)
{
	struct link link;
	struct search search = { .link = &link };
	int found = link_look_for(ifname, &link);

	if (found <= 0)
		return !found;
	if (!devices_each(&ifb_kind, compare, &search) ||
	    !devices_each(&splitter_kind, compare, &search))
		return false;
	return !search.is_found || refuse(ifname, &search.device);
}
