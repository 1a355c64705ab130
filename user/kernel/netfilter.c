// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/netfilter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "kernel/rtnl.h"

/* include/uapi/linux/netfilter/nf_tables.h of 6.16: a device by the beginning of its name ("eth*")
 */
#define NFTA_DEVICE_PREFIX 2
#define NAME_MAX_SHOWN 40

struct search {
	const char *ifname;
	char *chain;
	int found;
};

/* Where a chain stands. */
struct place {
	uint32_t hook;
	bool is_on; /* the interface */
};

static void look_at_device(const struct nlattr *attr, const char *ifname, struct place *place)
{
	char name[IFNAMSIZ];

	rtnl_text(attr, name, sizeof(name));
	if (mnl_attr_get_type(attr) == NFTA_DEVICE_PREFIX)
		place->is_on |= !strncmp(ifname, name, strlen(name));
	else
		place->is_on |= !strcmp(ifname, name);
}

static void read_hook(const struct nlattr *hook, const char *ifname, struct place *place)
{
	const struct nlattr *attr, *device;

	mnl_attr_for_each_nested(attr, hook) {
		switch (mnl_attr_get_type(attr)) {
		case NFTA_HOOK_HOOKNUM:
			rtnl_copy(attr, &place->hook, sizeof(place->hook));
			place->hook = ntohl(place->hook);
			break;
		case NFTA_HOOK_DEVS:
			mnl_attr_for_each_nested(device, attr)
				look_at_device(device, ifname, place);
			break;
		}
	}
}

static int on_chain(const struct nlmsghdr *message, void *data)
{
	const struct nfgenmsg *family = rtnl_header(message, sizeof(*family));
	char table[NAME_MAX_SHOWN] = "", name[NAME_MAX_SHOWN] = "";
	struct search *search = data;
	const struct nlattr *attr;
	struct place place = {};
	uint32_t ingress;

	if (!family)
		return MNL_CB_ERROR;
	if (family->nfgen_family == NFPROTO_NETDEV)
		ingress = NF_NETDEV_INGRESS;
	else if (family->nfgen_family == NFPROTO_INET)
		ingress = NF_INET_INGRESS;
	else
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(*family)) {
		switch (mnl_attr_get_type(attr)) {
		case NFTA_CHAIN_TABLE:
			rtnl_text(attr, table, sizeof(table));
			break;
		case NFTA_CHAIN_NAME:
			rtnl_text(attr, name, sizeof(name));
			break;
		case NFTA_CHAIN_HOOK:
			read_hook(attr, search->ifname, &place);
			break;
		}
	}
	if (!place.is_on || place.hook != ingress || search->found)
		return MNL_CB_OK;
	snprintf(search->chain, NETFILTER_CHAIN_MAX, "%s %s", table, name);
	search->found = 1;
	return MNL_CB_OK;
}

int netfilter_ingress(const char *ifname, char chain[NETFILTER_CHAIN_MAX])
{
	struct search search = { .ifname = ifname, .chain = chain };
	struct rtnl_request request;
	struct nfgenmsg *header;
	int error;

	header = rtnl_begin(&request, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN, NLM_F_DUMP,
			    sizeof(*header));
	header->nfgen_family = NFPROTO_UNSPEC;
	header->version = NFNETLINK_V0;
	request.protocol = NETLINK_NETFILTER;
	error = rtnl_dump(&request, on_chain, &search);
	/* A kernel without nftables (net/netfilter/nfnetlink.c), or without netfilter at all. */
	if (error == -EINVAL || error == -EPROTONOSUPPORT || error == -ECONNREFUSED)
		return 0;
	return error ? error : search.found;
}
