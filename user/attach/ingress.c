// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps, each of which is undone if a later one fails:
 *
 *	ifb		make it, enter it in the map of devices, set it up
 *	tcx ingress	the program that sends packets to the ifb; it lets them pass as
 *			long as no bpf_dualpi2 is in service there
 *	qdisc		last, as on any interface (root.c): from here on packets go
 *			through the ifb
 */
#include "attach/ingress.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <time.h>

#include "attach/borrowed.h"
#include "attach/ifb.h"
#include "attach/root.h"
#include "check/passed_over.h"
#include "check/report.h"
#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/ledger.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

/* With the rate lifted what waits is gone within SHAPER_LOOK_NS, unless the device takes nothing.
 */
#define DRAIN_WAIT_MS 2000
#define DRAIN_POLL_MS 2

/* ---- find ------------------------------------------------------------------------ */

/* The key of the qdisc at the root of the ifb. */
static struct dualpi2_key qdisc_key(const struct device *ifb)
{
	return (struct dualpi2_key){
		.netns = ifb->key.netns,
		.ifindex = ifb->ifindex,
		.parent = TC_H_ROOT,
	};
}

bool ingress_find(const char *ifname, struct ingress *ingress)
{
	struct qdisc root = {};
	struct link link;

	*ingress = (struct ingress){ .ifname = ifname };
	if (!link_named(ifname, &link))
		return false;
	ingress->key.netns = netns_current();
	ingress->key.ifindex = link.ifindex;
	ingress->type = link.type;
	if (!ingress->key.netns || !device_find(&ifb_kind, &ingress->key, &ingress->ifb) ||
	    (ingress->ifb.ifindex && !qdisc_root((int)ingress->ifb.ifindex, &root)))
		return false;
	ingress->aqm = aqm_of_kind(root.kind);
	return true;
}

const struct aqm *ingress_aqm(const struct ingress *ingress, const struct request *request)
{
	return request->aqm ?: ingress->aqm ?: aqm_default();
}

/* What the ifb's qdisc is of, if it has one. */
static const struct registration *registration_now(const struct registrations *regs,
						   const struct ingress *ingress)
{
	return registration_of(regs, ingress->aqm ?: aqm_default());
}

int ingress_live(const struct registrations *regs, const struct ingress *ingress,
		 struct dualpi2_params *in_force)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);
	struct dualpi2_stats stats;
	int live = ingress->ifb.ifindex ? stats_read(registration_now(regs, ingress), &key, &stats)
					: 0;

	if (live > 0)
		*in_force = stats.params;
	return expect_known(live, "the qdisc of %s", ingress->ifb.name);
}

/* ---- may it be attached? --------------------------------------------------------- */

/* 1, 0, or -errno, which is reported: unknown. */
static int has_rate(const struct registrations *regs, const struct ingress *ingress)
{
	struct dualpi2_params in_force = {};
	int live = ingress_live(regs, ingress, &in_force);

	return live > 0 ? in_force.rate != 0 : live;
}

static int look_for_others(const struct ingress *ingress, struct passed_over *others)
{
	return expect_known(passed_over_look((int)ingress->key.ifindex, ingress->ifname, others),
			    "the nft chains of this network namespace");
}

/* A firewall is not switched off in silence. */
static bool passes_nobody_over(const struct ingress *ingress)
{
	struct passed_over others;
	int found = look_for_others(ingress, &others);

	if (found > 0)
		return report_obstacle(STATUS_FAILURE, 0, ingress->ifname,
				       "--ingress would take its packets past %s: %s", others.whose,
				       others.remedy);
	return !found;
}

/* Where it is attached, others may have come later: nothing is taken back for them, but it is said.
 */
static void tell_of_others(const struct ingress *ingress)
{
	struct passed_over others;

	if (look_for_others(ingress, &others) > 0)
		report_line(REPORT_WARNING, "%s: --ingress takes its packets past %s: %s",
			    ingress->ifname, others.whose, others.remedy);
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

/* If not, it is said why (report_obstacle()). */
static bool is_possible(const struct registrations *regs, const struct ingress *ingress,
			const struct request *request)
{
	int attached, rate = request_has_rate(request);

	if (!rate && !request->whole)
		rate = has_rate(regs, ingress);
	if (rate < 0)
		return false;
	if (!has_ip_packets(ingress->type))
		return report_obstacle(STATUS_FAILURE, 0, ingress->ifname,
				       "has neither Ethernet frames nor bare IP packets: use "
				       "--ingress on the device below it");
	if (!rate)
		return report_obstacle(STATUS_USAGE, 0, ingress->ifname,
				       "--ingress: needs --rate, a little less than what the "
				       "bottleneck before it has: without one nothing waits here");
	attached = tcx_look(registration_now(regs, ingress), &ingress->key, TCX_INGRESS);
	if (attached > 0)
		tell_of_others(ingress);
	return attached ? attached > 0 : passes_nobody_over(ingress);
}

bool ingress_allowed(const struct registrations *regs, const struct ingress *ingress,
		     const struct request *request)
{
	return request_fits(request, ingress_aqm(ingress, request)) &&
	       is_possible(regs, ingress, request);
}

bool ingress_check(const struct registrations *regs, const struct ingress *ingress,
		   const struct request *request)
{
	if (!is_possible(regs, ingress, request))
		return false;
	if (ingress->ifb.ifindex)
		return report_line(REPORT_OK, "%s is its ifb already", ingress->ifb.name);
	return report_line(REPORT_OK, "what arrives will go through an ifb made for it");
}

/* ---- attach ---------------------------------------------------------------------- */

static bool make_ifb(struct ingress *ingress)
{
	int error = ingress->ifb.ifindex ? 0 : device_make(&ingress->ifb, ingress->ifname);

	if (error == -EOPNOTSUPP)
		return fail(-error, "the kernel has no ifb devices: `modprobe ifb`, or take a "
				    "kernel with it");
	return !error && device_enter(&ingress->ifb);
}

static bool set_up(const struct device *ifb)
{
	const struct link_change change = { .up = true, .alias = ifb->alias };

	link_without_addresses((int)ifb->ifindex);
	return link_change((int)ifb->ifindex, &change);
}

/* Remove what there is of us, the interface's own pin first: packets then take the
 * straight way.
 */
static bool remove_all(const struct registrations *regs, const struct ingress *ingress)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);

	tcx_detach(&ingress->key, TCX_INGRESS);
	if (ingress->ifb.ifindex) {
		if (!link_delete((int)ingress->ifb.ifindex))
			return false;
		tcx_detach(&key, TCX_EGRESS);
		target_forget(regs, &key);
	}
	device_forget(&ingress->ifb);
	return true;
}

/* The interface as it was before. */
static bool put_back(const struct registrations *regs, const struct ingress *ingress)
{
	return setting_return(&ingress->key, SETTING_NO_GRO) && remove_all(regs, ingress);
}

/* The qdisc, at the root of the ifb. */
static bool attach_qdisc(const struct registrations *regs, const struct ingress *ingress,
			 const struct request *request)
{
	char label[2 * IF_NAMESIZE + 16];
	struct target target;
	bool done;

	if (!target_find(ingress->ifb.name, &target))
		return false;
	snprintf(label, sizeof(label), "%s, ingress (%s)", ingress->ifname, ingress->ifb.name);
	target.label = label;
	target.feeder = ingress->key.ifindex;
	target.feeder_is_bare = ingress->type != ARPHRD_ETHER;
	done = target_allowed(&target, request) && root_attach(regs, &target, request);
	target_free(&target);
	return done;
}

bool ingress_attach(const struct registrations *regs, struct ingress *ingress,
		    const struct request *request)
{
	const struct registration *reg = registration_of(regs, ingress_aqm(ingress, request));
	const struct registration *former = registration_now(regs, ingress);
	const bool is_new = !ingress->ifb.entered;
	int attached = tcx_look(former, &ingress->key, TCX_INGRESS);
	const bool attaches = !attached || former != reg;

	if (attached < 0)
		return false;
	if (make_ifb(ingress) && set_up(&ingress->ifb) &&
	    (!attaches || tcx_attach(reg, &ingress->key, TCX_INGRESS)) &&
	    attach_qdisc(regs, ingress, request)) {
		if (!is_new && !attached)
			say_line("%s: what arrives goes through %s again", ingress->ifname,
				 ingress->ifb.name);
		return true;
	}
	/* What was there stays, changed or not. */
	if (is_new)
		put_back(regs, ingress);
	else if (!attached)
		tcx_detach(&ingress->key, TCX_INGRESS);
	else if (attaches)
		tcx_attach(former, &ingress->key, TCX_INGRESS);
	return false;
}

/* ---- unload ---------------------------------------------------------------------- */

static bool is_empty(const struct registration *reg, const struct dualpi2_key *key)
{
	struct dualpi2_stats live;
	int found;

	stats_refresh(reg);
	found = stats_read(reg, key, &live);
	return !found || (found > 0 && !live.l.backlog_packets && !live.c.backlog_packets);
}

/* Let the packets that wait in the ifb go at once. What has not gone in time is lost with
 * the device.
 */
static void drain(const struct registration *reg, const struct dualpi2_key *key)
{
	const struct timespec poll = { .tv_nsec = DRAIN_POLL_MS * 1000000L };
	struct dualpi2_stats live;

	if (stats_read(reg, key, &live) <= 0)
		return;
	live.params.rate = 0;
	params_change(reg, key, &live.params);
	for (int waited_ms = 0; waited_ms < DRAIN_WAIT_MS && !is_empty(reg, key);
	     waited_ms += DRAIN_POLL_MS)
		nanosleep(&poll, NULL);
}

bool ingress_undo(const struct registrations *regs, const struct ingress *ingress, bool *found)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);
	int had_tcx = tcx_detach(&ingress->key, TCX_INGRESS);

	if (had_tcx < 0)
		return false;
	*found = ingress->ifb.ifindex || had_tcx;
	if (!*found)
		return true;
	if (ingress->ifb.ifindex)
		drain(registration_now(regs, ingress), &key);
	return put_back(regs, ingress);
}

/* ---- sweep ----------------------------------------------------------------------- */

static int feeder_is_gone(const struct registrations *regs, const struct dualpi2_key *key)
{
	return interface_is_gone(regs, key, TCX_INGRESS);
}

static void remove_left_over(const struct registrations *regs, const struct device *ifb)
{
	const struct ingress ingress = { .key = interface_key(&ifb->key), .ifb = *ifb };
	struct link link;
	int found = target_look(&ingress.key, &link);

	if (found < 0)
		return;
	/* It may be the one that the ifb was made for: then somebody detached our program from it.
	 */
	if (found) {
		setting_return(&ingress.key, SETTING_NO_GRO);
		if (ifb->ifindex)
			say_line("%s: removed %s: incoming traffic no longer goes through it",
				 link.name, ifb->name);
	} else {
		ledger_erase(LEDGER_SETTINGS, &ingress.key);
	}
	remove_all(regs, &ingress);
}

void ingress_sweep(const struct registrations *regs, __u32 spared)
{
	devices_sweep(regs, &ifb_kind, spared, feeder_is_gone, remove_left_over);
}
