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

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attach/borrowed.h"
#include "attach/root.h"
#include "check/report.h"
#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/ledger.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

static const struct device_kind ifb_kind = {
	.purpose = DUALPI2_IFB,
	.kind = "ifb",
	.prefix = "in",
	.about = "what arrives at",
};

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
	struct dualpi2_key key = {};
	struct qdisc root = {};
	struct link link;

	*ingress = (struct ingress){ .ifname = ifname };
	if (!link_index(ifname, &key.ifindex) || !netns_current(&key.netns))
		return false;
	if (!link_expect((int)key.ifindex, ifname, &link))
		return false;
	ingress->key = key;
	ingress->type = link.type;
	if (!device_find(&ifb_kind, &key, &ingress->ifb))
		return false;
	if (ingress->ifb.ifindex && !qdisc_root((int)ingress->ifb.ifindex, &root))
		return false;
	ingress->aqm = aqm_of_kind(root.kind);
	return true;
}

const struct aqm *ingress_aqm(const struct ingress *ingress, const struct wish *wish)
{
	return wish->aqm ?: ingress->aqm ?: aqm_default();
}

/* What the ifb's qdisc is of, if it has one. */
static const struct registration *registration_now(const struct registrations *regs,
						   const struct ingress *ingress)
{
	return registration_of(regs, ingress->aqm ?: aqm_default());
}

/* ---- may it be attached? --------------------------------------------------------- */

/* 1, 0, or -errno: unknown. */
static int has_rate(const struct registration *reg, const struct ingress *ingress)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);
	struct dualpi2_stats live;
	int found = ingress->ifb.ifindex ? stats_read(reg, &key, &live) : 0;

	return found > 0 ? live.params.rate != 0 : found;
}

/* Filters of clsact come behind all tcx programs, so that they would see no packet any
 * more.
 */
static bool find_filters(const struct ingress *ingress, struct obstacle *obstacle)
{
	int has_filters =
		qdisc_has_filters(ingress->key.ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS));

	if (has_filters > 0)
		obstacle_set(obstacle,
			     "its ingress filters would see no packet any more: "
			     "`tc filter del dev %s ingress`, or make them tcx programs",
			     ingress->ifname);
	return has_filters >= 0;
}

static bool find_obstacle(const struct registrations *regs, const struct ingress *ingress,
			  const struct wish *wish, struct obstacle *obstacle)
{
	int rate = wish_has_rate(wish);

	*obstacle = (struct obstacle){};
	if (!rate && !wish->whole)
		rate = has_rate(registration_now(regs, ingress), ingress);
	if (rate < 0)
		return fail(-rate, "%s: cannot look at its qdisc: %s; run it again",
			    ingress->ifname, strerror(-rate));
	if (ingress->type != ARPHRD_ETHER)
		obstacle_set(obstacle, "is not an Ethernet device, and an ifb takes only those: "
				       "use --ingress on the one below it");
	else if (!rate) {
		obstacle_set(obstacle, "--ingress: needs --rate, a little less than what the "
				       "bottleneck before it has: without one nothing waits here");
		obstacle->is_usage = true;
	} else {
		int attached =
			tcx_look(registration_now(regs, ingress), &ingress->key, TCX_INGRESS);

		return attached ? attached > 0 : find_filters(ingress, obstacle);
	}
	return true;
}

bool ingress_allowed(const struct registrations *regs, const struct ingress *ingress,
		     const struct wish *wish)
{
	struct obstacle obstacle;

	return wish_fits(wish, ingress_aqm(ingress, wish)) &&
	       find_obstacle(regs, ingress, wish, &obstacle) &&
	       obstacle_absent(&obstacle, ingress->ifname);
}

bool ingress_check(const struct registrations *regs, const struct ingress *ingress,
		   const struct wish *wish)
{
	struct obstacle obstacle;

	if (!find_obstacle(regs, ingress, wish, &obstacle))
		return false;
	if (obstacle.text[0])
		return report_line(REPORT_MISSING, "%s: %s", ingress->ifname, obstacle.text);
	if (ingress->ifb.ifindex)
		return report_line(REPORT_OK, "%s is its ifb already", ingress->ifb.name);
	return report_line(REPORT_OK, "what arrives will go through an ifb made for it");
}

/* ---- attach ---------------------------------------------------------------------- */

static bool make_ifb(struct ingress *ingress)
{
	struct device *ifb = &ingress->ifb;

	switch (ifb->ifindex ? LINK_MADE : device_make(ifb, ingress->ifname)) {
	case LINK_MADE:
		return device_enter(ifb);
	case LINK_UNKNOWN_KIND:
		return fail(EOPNOTSUPP, "the kernel has no ifb devices: `modprobe ifb`, or take a "
					"kernel with it");
	default:
		return false;
	}
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
			 const struct wish *wish)
{
	char label[2 * IF_NAMESIZE + 16];
	struct target target;
	bool done;

	if (!target_find(ingress->ifb.name, &target))
		return false;
	snprintf(label, sizeof(label), "%s, ingress (%s)", ingress->ifname, ingress->ifb.name);
	target.label = label;
	target.feeder = ingress->key.ifindex;
	done = target_allowed(&target, wish) && root_attach(regs, &target, wish);
	target_free(&target);
	return done;
}

static bool attach_steps(const struct registrations *regs, struct ingress *ingress,
			 const struct wish *wish)
{
	const struct registration *reg = registration_of(regs, ingress_aqm(ingress, wish));

	return make_ifb(ingress) && set_up(&ingress->ifb) &&
	       tcx_attach(reg, &ingress->key, TCX_INGRESS) && attach_qdisc(regs, ingress, wish);
}

/* What was there stays, changed or not. */
static bool change_live(const struct registrations *regs, struct ingress *ingress,
			const struct wish *wish)
{
	const struct registration *reg = registration_of(regs, ingress_aqm(ingress, wish));
	const struct registration *former = registration_now(regs, ingress);
	int attached = tcx_look(former, &ingress->key, TCX_INGRESS);
	const bool attaches = !attached || former != reg;

	if (attached < 0)
		return false;
	if (!set_up(&ingress->ifb) || (attaches && !tcx_attach(reg, &ingress->key, TCX_INGRESS)) ||
	    !attach_qdisc(regs, ingress, wish)) {
		if (!attached)
			tcx_detach(&ingress->key, TCX_INGRESS);
		else if (attaches)
			tcx_attach(former, &ingress->key, TCX_INGRESS);
		return false;
	}
	if (!attached)
		printf("%s: what arrives goes through %s again\n", ingress->ifname,
		       ingress->ifb.name);
	return true;
}

bool ingress_attach(const struct registrations *regs, struct ingress *ingress,
		    const struct wish *wish)
{
	if (ingress->ifb.entered)
		return change_live(regs, ingress, wish);
	if (attach_steps(regs, ingress, wish))
		return true;
	put_back(regs, ingress);
	return false;
}

/* ---- unload ---------------------------------------------------------------------- */

static bool is_empty(const struct registration *reg, const struct dualpi2_key *key)
{
	struct dualpi2_stats live;

	stats_refresh(reg);
	return stats_read(reg, key, &live) <= 0 ||
	       (!live.l.backlog_packets && !live.c.backlog_packets);
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

/* If an interface is gone, its ifb goes. */
static void sweep_one(const struct registrations *regs, const struct dualpi2_key *key)
{
	struct ingress ingress = { .key = interface_key(key), .ifb.key = *key };

	if (interface_is_gone(regs, key, TCX_INGRESS) <= 0)
		return;
	/* With a namespace its devices are gone. */
	if (netns_is_current(key->netns) && !device_find(&ifb_kind, key, &ingress.ifb))
		return;
	verbose("interface %u is gone, and its ifb goes", key->ifindex);
	remove_all(regs, &ingress);
	setting_forget(&ingress.key);
}

void ingress_sweep(const struct registrations *regs)
{
	devices_each(regs, &ifb_kind, sweep_one);
}
