// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/passed_over.h"

#include <linux/pkt_sched.h>
#include <stdio.h>

#include "kernel/netfilter.h"
#include "kernel/qdisc.h"

int passed_over_look(int ifindex, const char *ifname, struct passed_over *who)
{
	char chain[NETFILTER_CHAIN_MAX];
	int found = qdisc_has_filters(ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS));

	if (found > 0) {
		snprintf(who->whose, sizeof(who->whose), "its tc ingress filters");
		snprintf(who->remedy, sizeof(who->remedy),
			 "`tc filter del dev %s ingress`, or make them tcx programs", ifname);
	}
	if (found)
		return found;
	found = netfilter_ingress(ifname, chain);
	if (found > 0) {
		snprintf(who->whose, sizeof(who->whose), "the nft ingress chain %s", chain);
		snprintf(who->remedy, sizeof(who->remedy),
			 "move its rules to a prerouting chain, and `nft delete` it");
	}
	return found;
}
