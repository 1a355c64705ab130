// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/link.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/rtnl.h"

#define BYTES_PER_MBIT (1000000 / 8)

/* Not IFF_RUNNING: the kernel sets that up to a second later (net/core/link_watch.c). */
#define IFF_CONNECTED (IFF_UP | IFF_LOWER_UP)

static const uint16_t setting_attributes[N_LINK_SETTINGS] = {
	[LINK_GSO_MAX_SEGS] = IFLA_GSO_MAX_SEGS,
	[LINK_GRO_MAX_SIZE] = IFLA_GRO_MAX_SIZE,
	[LINK_GRO_IPV4_MAX_SIZE] = IFLA_GRO_IPV4_MAX_SIZE,
};

static int on_link(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = rtnl_header(message, sizeof(*info));
	const struct nlattr *attrs[IFLA_MAX + 1], *details[IFLA_INFO_MAX + 1], *address;
	struct link *link = data;

	if (!info)
		return MNL_CB_ERROR;
	rtnl_attributes(message, sizeof(*info), attrs, IFLA_MAX);
	rtnl_nested(attrs[IFLA_LINKINFO], details, IFLA_INFO_MAX);
	link->ifindex = info->ifi_index;
	link->type = info->ifi_type;
	link->running = (info->ifi_flags & IFF_CONNECTED) == IFF_CONNECTED;
	rtnl_text(attrs[IFLA_IFNAME], link->name, sizeof(link->name));
	rtnl_text(attrs[IFLA_IFALIAS], link->alias, sizeof(link->alias));
	rtnl_text(details[IFLA_INFO_KIND], link->kind, sizeof(link->kind));
	rtnl_copy(attrs[IFLA_MTU], &link->mtu, sizeof(link->mtu));
	rtnl_copy(attrs[IFLA_NUM_TX_QUEUES], &link->tx_queues, sizeof(link->tx_queues));
	rtnl_copy(attrs[IFLA_NUM_RX_QUEUES], &link->rx_queues, sizeof(link->rx_queues));
	rtnl_copy(attrs[IFLA_LINK], &link->peer, sizeof(link->peer));
	address = attrs[IFLA_ADDRESS];
	if (address && mnl_attr_get_payload_len(address) == ETH_ALEN)
		rtnl_copy(address, &link->address, sizeof(link->address));
	for (int i = 0; i < N_LINK_SETTINGS; i++)
		rtnl_copy(attrs[setting_attributes[i]], &link->settings[i],
			  sizeof(link->settings[i]));
	return MNL_CB_OK;
}

static struct ifinfomsg *begin(struct rtnl_request *request, uint16_t type, uint16_t flags,
			       int ifindex)
{
	struct ifinfomsg *info = rtnl_begin(request, type, flags, sizeof(*info));

	info->ifi_index = ifindex;
	return info;
}

static int ask(struct rtnl_request *request, struct link *link)
{
	int error;

	*link = (struct link){};
	error = rtnl_talk(request, on_link, link);
	if (!error)
		return 1;
	*link = (struct link){};
	return error == -ENODEV ? 0 : error;
}

int link_look(int ifindex, struct link *link)
{
	struct rtnl_request request;

	begin(&request, RTM_GETLINK, NLM_F_ACK, ifindex);
	return expect_known(ask(&request, link), "interface %d", ifindex);
}

int link_look_for(const char *name, struct link *link)
{
	const size_t length = strlen(name);
	struct rtnl_request request;

	*link = (struct link){};
	if (length >= ALTIFNAMSIZ)
		return 0;
	begin(&request, RTM_GETLINK, NLM_F_ACK, 0);
	mnl_attr_put_strz(&request.header, length < IF_NAMESIZE ? IFLA_IFNAME : IFLA_ALT_IFNAME,
			  name);
	return expect_known(ask(&request, link), "%s", name);
}

bool link_expect(int ifindex, const char *label, struct link *link)
{
	int found = link_look(ifindex, link);

	return found ? found > 0 : fail(0, "%s: has just been removed", label);
}

/* As `ip link` shows a device with its lower or other one: "eth0@if5" is eth0. */
static bool refuse_unknown(const char *name)
{
	const int length = (int)strcspn(name, "@");

	if (length && name[length])
		return fail(0,
			    "%s: no such interface: what `ip link` shows behind the @ is another "
			    "device: give %.*s",
			    name, length, name);
	return fail(0, "%s: no such interface in this network namespace (see `ip link`)", name);
}

bool link_named(const char *name, struct link *link)
{
	int found = link_look_for(name, link);

	return found ? found > 0 : refuse_unknown(name);
}

/* While the names of an interface are read. */
struct naming {
	void (*visit)(const char *name, void *data);
	void *data;
};

static int on_names(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attrs[IFLA_MAX + 1], *property;
	const struct naming *naming = data;
	char name[ALTIFNAMSIZ];

	if (!rtnl_header(message, sizeof(struct ifinfomsg)))
		return MNL_CB_ERROR;
	rtnl_attributes(message, sizeof(struct ifinfomsg), attrs, IFLA_MAX);
	rtnl_text(attrs[IFLA_IFNAME], name, sizeof(name));
	naming->visit(name, naming->data);
	if (!attrs[IFLA_PROP_LIST])
		return MNL_CB_OK;
	mnl_attr_for_each_nested(property, attrs[IFLA_PROP_LIST]) {
		rtnl_text(property, name, sizeof(name));
		naming->visit(name, naming->data);
	}
	return MNL_CB_OK;
}

bool link_each_name(int ifindex, void (*visit)(const char *name, void *data), void *data)
{
	struct naming naming = { visit, data };
	struct rtnl_request request;
	int error;

	begin(&request, RTM_GETLINK, NLM_F_ACK, ifindex);
	error = rtnl_talk(&request, on_names, &naming);
	return error == -ENODEV || expect_known(error, "the names of interface %d", ifindex) == 0;
}

uint64_t link_speed(const struct link *link)
{
	struct ethtool_cmd settings = { .cmd = ETHTOOL_GSET };
	struct ifreq request = { .ifr_data = (char *)&settings };
	bool answered;
	int fd;

	if (link->kind[0])
		return 0;
	memcpy(request.ifr_name, link->name, sizeof(request.ifr_name));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	answered = fd >= 0 && !ioctl(fd, SIOCETHTOOL, &request);
	close(fd);
	if (!answered || ethtool_cmd_speed(&settings) == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return (uint64_t)ethtool_cmd_speed(&settings) * BYTES_PER_MBIT;
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
	struct rtnl_request request;
	struct nlattr *info;

	begin(&request, RTM_GETLINK, NLM_F_DUMP, 0);
	if (kind) {
		info = mnl_attr_nest_start(&request.header, IFLA_LINKINFO);
		mnl_attr_put_strz(&request.header, IFLA_INFO_KIND, kind);
		mnl_attr_nest_end(&request.header, info);
	}
	return expect_known(rtnl_dump(&request, on_each_link, &links), "the interfaces") == 0;
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

/* The answer has the device that was made, so nothing can come between: one whose number nobody
 * knows would stay.
 */
static int create(const struct link_plan *plan, struct rtnl_request *request, struct link *made)
{
	struct nlattr *info;

	begin(request, RTM_NEWLINK, NLM_F_ACK | NLM_F_ECHO | NLM_F_CREATE | NLM_F_EXCL, 0);
	mnl_attr_put_strz(&request->header, IFLA_IFNAME, plan->name);
	mnl_attr_put(&request->header, IFLA_ADDRESS, ETH_ALEN, &plan->address);
	if (plan->tx_queues)
		mnl_attr_put_u32(&request->header, IFLA_NUM_TX_QUEUES, plan->tx_queues);
	info = mnl_attr_nest_start(&request->header, IFLA_LINKINFO);
	mnl_attr_put_strz(&request->header, IFLA_INFO_KIND, plan->kind);
	if (plan->peer)
		put_netkit(&request->header, plan->peer);
	mnl_attr_nest_end(&request->header, info);
	*made = (struct link){};
	return rtnl_talk(request, on_link, made);
}

/* Asks for one with an address that none can have: whether the kernel minds the address
 * (netkit_validate()) or the kind, it makes nothing.
 */
int link_kernel_has_netkit(void)
{
	static const struct link_plan plan = { .kind = NETKIT_KIND, .name = "no-netkit" };
	struct rtnl_request request;
	struct link link;
	int error = create(&plan, &request, &link);

	if (error == -EPERM || message_shortage(-error))
		return expect_known(error, "whether the kernel has netkit devices");
	return error != -EOPNOTSUPP;
}

int link_create(const struct link_plan *plan, struct link *made)
{
	struct rtnl_request request;
	int error = create(plan, &request, made);

	if (error && error != -EEXIST && error != -EOPNOTSUPP)
		rtnl_accepted(&request, error, "make %s", plan->name);
	return error;
}

void link_without_addresses(int ifindex)
{
	struct nlattr *families, *ipv6;
	struct rtnl_request request;

	begin(&request, RTM_NEWLINK, NLM_F_ACK, ifindex);
	families = mnl_attr_nest_start(&request.header, IFLA_AF_SPEC);
	ipv6 = mnl_attr_nest_start(&request.header, AF_INET6);
	mnl_attr_put_u8(&request.header, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(&request.header, ipv6);
	mnl_attr_nest_end(&request.header, families);
	rtnl_talk(&request, NULL, NULL);
}

bool link_change(int ifindex, const struct link_change *change)
{
	struct rtnl_request request;
	struct ifinfomsg *info;

	info = begin(&request, RTM_NEWLINK, NLM_F_ACK, ifindex);
	if (change->up)
		info->ifi_flags = info->ifi_change = IFF_UP;
	if (change->alias)
		mnl_attr_put_str(&request.header, IFLA_IFALIAS, change->alias);
	if (change->gso_max_size)
		mnl_attr_put_u32(&request.header, IFLA_GSO_MAX_SIZE, change->gso_max_size);
	for (int i = 0; i < N_LINK_SETTINGS; i++) {
		if (change->settings[i])
			mnl_attr_put_u32(&request.header, setting_attributes[i],
					 change->settings[i]);
	}
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "set up interface %d",
			     ifindex);
}

bool link_delete(int ifindex)
{
	struct rtnl_request request;
	int error;

	begin(&request, RTM_DELLINK, NLM_F_ACK, ifindex);
	error = rtnl_talk(&request, NULL, NULL);
	return rtnl_accepted(&request, error == -ENODEV ? 0 : error, "remove interface %d",
			     ifindex);
}
