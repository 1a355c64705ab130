// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/route.h"

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/rtnl.h"

struct search {
	int ifindex;
	int found;
};

/* Those of a route with several next hops stand in RTA_MULTIPATH, each with its own length. */
static bool has_next_hop(const struct nlattr *hops, int ifindex)
{
	size_t left = hops ? mnl_attr_get_payload_len(hops) : 0;
	const char *at = hops ? mnl_attr_get_payload(hops) : NULL;
	struct rtnexthop hop;
	size_t length;

	while (left >= sizeof(hop)) {
		memcpy(&hop, at, sizeof(hop));
		if (hop.rtnh_ifindex == ifindex)
			return true;
		length = RTNH_ALIGN(hop.rtnh_len);
		if (length < sizeof(hop) || length > left)
			break;
		left -= length;
		at += length;
	}
	return false;
}

/* Not one that refuses what it matches ("unreachable default"), as IPv6 has on lo. */
static int on_route(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *route = rtnl_header(message, sizeof(*route));
	const struct nlattr *attrs[RTA_MAX + 1];
	struct search *search = data;
	int out = 0;

	if (!route)
		return MNL_CB_ERROR;
	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	rtnl_attributes(message, sizeof(*route), attrs, RTA_MAX);
	rtnl_copy(attrs[RTA_OIF], &out, sizeof(out));
	if (out == search->ifindex || has_next_hop(attrs[RTA_MULTIPATH], search->ifindex))
		search->found = 1;
	return MNL_CB_OK;
}

int route_has_default(int ifindex)
{
	static const unsigned char families[] = { AF_INET, AF_INET6 };
	struct search search = { .ifindex = ifindex };
	struct rtnl_request request;
	struct rtmsg *route;
	int error = 0;

	for (size_t i = 0; !error && !search.found && i < sizeof(families); i++) {
		route = rtnl_begin(&request, RTM_GETROUTE, NLM_F_DUMP, sizeof(*route));
		route->rtm_family = families[i];
		error = rtnl_dump(&request, on_route, &search);
	}
	return error ?: search.found;
}
