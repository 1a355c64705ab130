// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/message.h"
#include "kernel/rtnl.h"

/* Not IFF_RUNNING: the kernel sets that up to a second later (net/core/link_watch.c). */
#define IFF_CONNECTED (IFF_UP | IFF_LOWER_UP)

static void read_kind(const struct nlattr *info, struct link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info) {
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			rtnl_text(attr, link->kind, sizeof(link->kind));
	}
}

static int on_link(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = rtnl_header(message, sizeof(*info));
	struct link *link = data;
	const struct nlattr *attr;

	if (!info)
		return MNL_CB_ERROR;
	link->ifindex = info->ifi_index;
	link->type = info->ifi_type;
	link->running = (info->ifi_flags & IFF_CONNECTED) == IFF_CONNECTED;
	mnl_attr_for_each(attr, message, sizeof(*info)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME:
			rtnl_text(attr, link->name, sizeof(link->name));
			break;
		case IFLA_IFALIAS:
			rtnl_text(attr, link->alias, sizeof(link->alias));
			break;
		case IFLA_ADDRESS:
			if (mnl_attr_get_payload_len(attr) == ETH_ALEN)
				rtnl_copy(attr, &link->address, sizeof(link->address));
			break;
		case IFLA_NUM_TX_QUEUES:
			rtnl_copy(attr, &link->tx_queues, sizeof(link->tx_queues));
			break;
		case IFLA_GSO_MAX_SEGS:
			rtnl_copy(attr, &link->gso_max_segs, sizeof(link->gso_max_segs));
			break;
		case IFLA_GRO_MAX_SIZE:
			rtnl_copy(attr, &link->gro_max_size, sizeof(link->gro_max_size));
			break;
		case IFLA_GRO_IPV4_MAX_SIZE:
			rtnl_copy(attr, &link->gro_ipv4_max_size, sizeof(link->gro_ipv4_max_size));
			break;
		case IFLA_LINK:
			rtnl_copy(attr, &link->peer, sizeof(link->peer));
			break;
		case IFLA_LINKINFO:
			read_kind(attr, link);
			break;
		}
	}
	return MNL_CB_OK;
}

static int ask(struct rtnl_request *request, struct link *link)
{
	struct rtnl_refusal refusal;

	*link = (struct link){};
	if (rtnl_talk(request, on_link, link, &refusal))
		return 1;
	*link = (struct link){};
	return refusal.error == ENODEV ? 0 : -refusal.error;
}

int link_read(int ifindex, struct link *link)
{
	struct rtnl_request request;
	struct ifinfomsg *info;

	info = rtnl_begin(&request, RTM_GETLINK, NLM_F_ACK, sizeof(*info));
	info->ifi_index = ifindex;
	return ask(&request, link);
}

int link_find(const char *name, struct link *link)
{
	struct rtnl_request request;

	*link = (struct link){};
	if (strlen(name) >= IF_NAMESIZE)
		return 0;
	rtnl_begin(&request, RTM_GETLINK, NLM_F_ACK, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(&request.header, IFLA_IFNAME, name);
	return ask(&request, link);
}

int link_look(int ifindex, struct link *link)
{
	int found = link_read(ifindex, link);

	if (found < 0)
		fail(-found, "cannot look at interface %d: %s; run it again", ifindex,
		     strerror(-found));
	return found;
}

bool link_expect(int ifindex, const char *label, struct link *link)
{
	int found = link_look(ifindex, link);

	return found ? found > 0 : fail(0, "%s: has just been removed", label);
}

int link_look_for(const char *name, struct link *link)
{
	int found = link_find(name, link);

	if (found < 0)
		fail(-found, "cannot look at %s: %s; run it again", name, strerror(-found));
	return found;
}

bool link_index(const char *ifname, unsigned int *ifindex)
{
	struct link link;
	int found = link_look_for(ifname, &link);

	if (found <= 0)
		return !found &&
		       fail(0, "%s: no such interface in this network namespace (see `ip link`)",
			    ifname);
	*ifindex = link.ifindex;
	return true;
}

struct links {
	void (*visit)(const struct link *link, void *data);
	void *data;
};

static int on_each_link(const struct nlmsghdr *message, void *data)
{
	const struct links *links = data;
	struct link link = {};
	int result = on_link(message, &link);

	if (result == MNL_CB_OK)
		links->visit(&link, links->data);
	return result;
}

bool link_each(const char *kind, void (*visit)(const struct link *link, void *data), void *data)
{
	struct links links = { visit, data };
	struct rtnl_refusal refusal;
	struct rtnl_request request;
	struct nlattr *info;

	rtnl_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	info = mnl_attr_nest_start(&request.header, IFLA_LINKINFO);
	mnl_attr_put_strz(&request.header, IFLA_INFO_KIND, kind);
	mnl_attr_nest_end(&request.header, info);
	return rtnl_talk(&request, on_each_link, &links, &refusal) ||
	       fail(refusal.error, "cannot look at the interfaces: %s; run it again",
		    strerror(refusal.error));
}

static void put_netkit(struct nlmsghdr *request, const char *peer)
{
	struct nlattr *data = mnl_attr_nest_start(request, IFLA_INFO_DATA), *peer_info;
	struct ifinfomsg *peer_header;

	/* In the other mode a netkit device has no address. */
	mnl_attr_put_u32(request, IFLA_NETKIT_MODE, NETKIT_L2);
	mnl_attr_put_u32(request, IFLA_NETKIT_POLICY, NETKIT_DROP);
	mnl_attr_put_u32(request, IFLA_NETKIT_PEER_POLICY, NETKIT_DROP);
	peer_info = mnl_attr_nest_start(request, IFLA_NETKIT_PEER_INFO);
	peer_header = mnl_nlmsg_put_extra_header(request, sizeof(*peer_header));
	*peer_header = (struct ifinfomsg){};
	mnl_attr_put_strz(request, IFLA_IFNAME, peer);
	mnl_attr_nest_end(request, peer_info);
	mnl_attr_nest_end(request, data);
}

/* What was made comes with the answer, so nothing can come between: a device whose number nobody
 * knows would stay.
 */
static bool create(const struct link_plan *plan, struct link *made, struct rtnl_refusal *refusal)
{
	struct rtnl_request request;
	struct nlattr *info;

	rtnl_begin(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_ECHO | NLM_F_CREATE | NLM_F_EXCL,
		   sizeof(struct ifinfomsg));
	mnl_attr_put_strz(&request.header, IFLA_IFNAME, plan->name);
	mnl_attr_put(&request.header, IFLA_ADDRESS, ETH_ALEN, &plan->address);
	info = mnl_attr_nest_start(&request.header, IFLA_LINKINFO);
	mnl_attr_put_strz(&request.header, IFLA_INFO_KIND, plan->kind);
	if (plan->peer)
		put_netkit(&request.header, plan->peer);
	mnl_attr_nest_end(&request.header, info);
	*made = (struct link){};
	return rtnl_talk(&request, on_link, made, refusal);
}

/* Asks for one with an address that none can have: whether the kernel minds the address
 * (netkit_validate()) or the kind, it makes nothing.
 */
bool link_kernel_has_netkit(void)
{
	static const struct link_plan plan = { .kind = NETKIT_KIND, .name = "no-netkit" };
	struct rtnl_refusal refusal = {};
	struct link link;

	create(&plan, &link, &refusal);
	return refusal.error != EOPNOTSUPP;
}

enum link_made link_create(const struct link_plan *plan, struct link *made)
{
	struct rtnl_refusal refusal;

	if (create(plan, made, &refusal))
		return LINK_MADE;
	switch (refusal.error) {
	case EEXIST:
		return LINK_NAME_TAKEN;
	case EOPNOTSUPP:
		return LINK_UNKNOWN_KIND;
	}
	fail(refusal.error, "the kernel refuses to make %s: %s", plan->name, rtnl_reason(&refusal));
	return LINK_REFUSED;
}

void link_without_addresses(int ifindex)
{
	struct nlattr *families, *ipv6;
	struct rtnl_refusal refusal;
	struct rtnl_request request;
	struct ifinfomsg *info;

	info = rtnl_begin(&request, RTM_NEWLINK, NLM_F_ACK, sizeof(*info));
	info->ifi_index = ifindex;
	families = mnl_attr_nest_start(&request.header, IFLA_AF_SPEC);
	ipv6 = mnl_attr_nest_start(&request.header, AF_INET6);
	mnl_attr_put_u8(&request.header, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(&request.header, ipv6);
	mnl_attr_nest_end(&request.header, families);
	rtnl_talk(&request, NULL, NULL, &refusal);
}

static void put_figure(struct rtnl_request *request, uint16_t attribute, uint32_t figure)
{
	if (figure)
		mnl_attr_put_u32(&request->header, attribute, figure);
}

bool link_change(int ifindex, const struct link_change *change)
{
	struct rtnl_request request;
	struct ifinfomsg *info;

	info = rtnl_begin(&request, RTM_NEWLINK, NLM_F_ACK, sizeof(*info));
	info->ifi_index = ifindex;
	if (change->up)
		info->ifi_flags = info->ifi_change = IFF_UP;
	if (change->alias)
		mnl_attr_put_str(&request.header, IFLA_IFALIAS, change->alias);
	put_figure(&request, IFLA_GSO_MAX_SEGS, change->gso_max_segs);
	put_figure(&request, IFLA_GSO_MAX_SIZE, change->gso_max_size);
	put_figure(&request, IFLA_GRO_MAX_SIZE, change->gro_max_size);
	put_figure(&request, IFLA_GRO_IPV4_MAX_SIZE, change->gro_ipv4_max_size);
	return rtnl_order(&request, "set up interface %d", ifindex);
}

bool link_delete(int ifindex)
{
	struct rtnl_request request;
	struct ifinfomsg *info;

	info = rtnl_begin(&request, RTM_DELLINK, NLM_F_ACK, sizeof(*info));
	info->ifi_index = ifindex;
	return rtnl_order(&request, "remove interface %d", ifindex);
}
