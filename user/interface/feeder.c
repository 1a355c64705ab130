// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/feeder.h"

#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <sys/sysinfo.h>

#include "check/passed_over.h"
#include "check/report.h"
#include "cli/message.h"
#include "interface/room.h"
#include "interface/tree.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

/* A packet takes the queue that it was received on. Of a device that has one, other CPUs may have
 * got it (RPS), and its flow tells.
 */
static uint32_t queues_for(const struct link *link)
{
	return link->rx_queues > 1 ? link->rx_queues : (uint32_t)get_nprocs();
}

bool feeder_find(const char *ifname, struct feeder *feeder)
{
	struct tree tree = {};
	struct link link;

	*feeder = (struct feeder){ .ifname = ifname };
	if (!link_named(ifname, &link))
		return false;
	feeder->key.netns = netns_current();
	feeder->key.ifindex = link.ifindex;
	feeder->type = link.type;
	feeder->queues = queues_for(&link);
	if (!feeder->key.netns || !device_find(&ifb_kind, &feeder->key, &feeder->ifb) ||
	    (feeder->ifb.ifindex && !tree_read((int)feeder->ifb.ifindex, &tree)))
		return false;
	feeder->aqm = tree_aqm(&tree);
	feeder->is_mq = tree_has_ours_below_mq(&tree);
	feeder->parent = tree_first_of_ours(&tree);
	feeder->handle = tree.root.handle;
	tree_free(&tree);
	return true;
}

struct dualpi2_key feeder_root(const struct feeder *feeder)
{
	return (struct dualpi2_key){
		.netns = feeder->key.netns,
		.ifindex = feeder->ifb.ifindex,
		.parent = TC_H_ROOT,
	};
}

const struct aqm *feeder_aqm(const struct feeder *feeder, const struct request *request)
{
	return request_aqm(request, feeder->aqm, feeder->is_mq);
}

const struct registration *feeder_registration(const struct registrations *regs,
					       const struct feeder *feeder)
{
	return registration_of(regs, feeder->aqm ?: aqm_default());
}

int feeder_live(const struct registrations *regs, const struct feeder *feeder,
		struct dualpi2_params *in_force)
{
	struct dualpi2_key key = feeder_root(feeder);
	struct dualpi2_stats stats;
	int live = 0;

	key.parent = feeder->parent;
	if (feeder->ifb.ifindex)
		live = stats_read(feeder_registration(regs, feeder), &key, &stats);
	if (live > 0)
		*in_force = stats.params;
	return expect_known(live, "the qdisc of %s", feeder->ifb.name);
}

/* ---- may it be attached? --------------------------------------------------------- */

/* A firewall is not switched off in silence. Where the program is attached, others may have come
 * later: nothing is taken back for them, but it is said.
 */
static bool passes_nobody_over(const struct feeder *feeder, bool is_attached)
{
	struct passed_over others;
	int found =
		expect_known(passed_over_look((int)feeder->key.ifindex, feeder->ifname, &others),
			     "the nft chains of this network namespace");

	if (found > 0 && is_attached)
		return report_line(REPORT_WARNING, "%s: --ingress takes its packets past %s: %s",
				   feeder->ifname, others.whose, others.remedy);
	if (found > 0)
		return report_obstacle(STATUS_FAILURE, 0, feeder->ifname,
				       "--ingress would take its packets past %s: %s", others.whose,
				       others.remedy);
	return !found || is_attached;
}

/* Of those without Ethernet frames bpf/ingress.bpf.h makes some. */
static bool has_ip_packets(uint16_t type)
{
	switch (type) {
	case ARPHRD_ETHER:
	case ARPHRD_NONE: /* tun, wireguard */
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL: /* ipip */
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return true;
	}
	return false;
}

static bool has_queues(const struct feeder *feeder)
{
	return feeder->queues > 1 ||
	       report_obstacle(STATUS_FAILURE, 0, feeder->ifname,
			       "has one receive queue and the host one CPU, and mq is for several: "
			       "leave out --mq");
}

/* If not, it is said why (report_obstacle()). */
static bool is_possible(const struct registrations *regs, const struct feeder *feeder,
			const struct request *request)
{
	struct dualpi2_params params = {};
	int attached, live = 0;

	if (!request_has_rate(request) && !request->whole)
		live = feeder_live(regs, feeder, &params);
	if (live < 0)
		return false;
	if (!has_ip_packets(feeder->type))
		return report_obstacle(STATUS_FAILURE, 0, feeder->ifname,
				       "has neither Ethernet frames nor bare IP packets: use "
				       "--ingress on the device below it");
	if (!request_has_rate(request) && !params.rate)
		return report_obstacle(STATUS_USAGE, 0, feeder->ifname,
				       "--ingress: needs --rate, a little less than what the "
				       "bottleneck before it has: " WITHOUT_RATE);
	if ((request->mq && !has_queues(feeder)) ||
	    !request_has_variant(request, feeder->aqm, feeder->is_mq, feeder->ifname))
		return false;
	attached = tcx_look(feeder_registration(regs, feeder), &feeder->key, TCX_INGRESS);
	return attached >= 0 && passes_nobody_over(feeder, attached);
}

bool feeder_allowed(const struct registrations *regs, const struct feeder *feeder,
		    const struct request *request)
{
	return request_fits(request, feeder_aqm(feeder, request)) &&
	       is_possible(regs, feeder, request);
}

bool feeder_check(const struct registrations *regs, const struct feeder *feeder,
		  const struct request *request)
{
	if (!is_possible(regs, feeder, request))
		return false;
	if (!feeder->aqm && !room_for(registration_of(regs, feeder_aqm(feeder, request)),
				      feeder->ifname, request->mq ? feeder->queues : 1, 0))
		return false;
	if (feeder->ifb.ifindex)
		return report_line(REPORT_OK, "%s is its ifb already", feeder->ifb.name);
	if (request->mq)
		report_line(REPORT_OK, "%u queues of its ifb will share the rate", feeder->queues);
	return report_line(REPORT_OK, "what arrives will go through an ifb made for it");
}
