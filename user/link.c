// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "link.h"

#include <linux/rtnetlink.h>
#include <stdio.h>

#include "message.h"
#include "rtnl.h"

static void read_kind(const struct nlattr *info, struct link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info) {
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			snprintf(link->kind, sizeof(link->kind), "%s", mnl_attr_get_str(attr));
	}
}

static int on_link(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct link *link = data;
	const struct nlattr *attr;

	link->ifindex = info->ifi_index;
	link->type = info->ifi_type;
	mnl_attr_for_each(attr, message, sizeof(*info)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME:
			snprintf(link->name, sizeof(link->name), "%s", mnl_attr_get_str(attr));
			break;
		case IFLA_NUM_TX_QUEUES:
			link->tx_queues = mnl_attr_get_u32(attr);
			break;
		case IFLA_LINKINFO:
			read_kind(attr, link);
			break;
		}
	}
	return MNL_CB_OK;
}

bool link_read(int ifindex, struct link *link)
{
	struct rtnl_refusal refusal;
	struct rtnl_request request;
	struct ifinfomsg *info;

	*link = (struct link){};
	info = rtnl_begin(&request, RTM_GETLINK, NLM_F_ACK, sizeof(*info));
	info->ifi_index = ifindex;
	if (rtnl_talk(&request, on_link, link, &refusal))
		return true;
	return fail(refusal.error, "the kernel does not show interface %d: %s", ifindex,
		    rtnl_reason(&refusal));
}
