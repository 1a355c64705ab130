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

static bool has_device(const struct nlattr *devices, const char *ifname)
{
	const struct nlattr *device;
	bool found = false;
	char name[IFNAMSIZ];

	if (!devices)
		return false;
	mnl_attr_for_each_nested(device, devices) {
		rtnl_text(device, name, sizeof(name));
		if (mnl_attr_get_type(device) == NFTA_DEVICE_PREFIX)
			found |= !strncmp(ifname, name, strlen(name));
		else
			found |= !strcmp(ifname, name);
	}
	return found;
}

static int on_chain(const struct nlmsghdr *message, void *data)
{
	const struct nfgenmsg *family = rtnl_header(message, sizeof(*family));
	const struct nlattr *chain[NFTA_CHAIN_MAX + 1], *hook[NFTA_HOOK_MAX + 1];
	char table[NAME_MAX_SHOWN], name[NAME_MAX_SHOWN];
	struct search *search = data;
	uint32_t ingress, number;

	if (!family)
		return MNL_CB_ERROR;
	if (family->nfgen_family == NFPROTO_NETDEV)
		ingress = NF_NETDEV_INGRESS;
	else if (family->nfgen_family == NFPROTO_INET)
		ingress = NF_INET_INGRESS;
	else
		return MNL_CB_OK;
	rtnl_attributes(message, sizeof(*family), chain, NFTA_CHAIN_MAX);
	rtnl_nested(chain[NFTA_CHAIN_HOOK], hook, NFTA_HOOK_MAX);
	rtnl_copy(hook[NFTA_HOOK_HOOKNUM], &number, sizeof(number));
	if (search->found || ntohl(number) != ingress ||
	    !has_device(hook[NFTA_HOOK_DEVS], search->ifname))
		return MNL_CB_OK;
	rtnl_text(chain[NFTA_CHAIN_TABLE], table, sizeof(table));
	rtnl_text(chain[NFTA_CHAIN_NAME], name, sizeof(name));
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
