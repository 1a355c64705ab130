// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps, each of which is undone if a later one fails:
 *
 *	ifb		make it, enter it in the map of helpers, set it up
 *	tcx ingress	the program that sends packets to the ifb; it lets them pass as
 *			long as no bpf_dualpi2 is in service there
 *	qdisc		last, as on any interface (attach.c): from here on packets go
 *			through the ifb
 */
#include "ingress.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "finding.h"
#include "instance.h"
#include "link.h"
#include "message.h"
#include "params.h"
#include "settings.h"

#define IFB_KIND "ifb"
#define IFB_PREFIX "in"

/* At the lowest rate, 8kbit, the next packet may be due in 1.5 s. */
#define DRAIN_WAIT_MS 2000
#define DRAIN_POLL_MS 2

/* ---- find ------------------------------------------------------------------------ */

/* The key of the qdisc at the root of the ifb. */
static struct dualpi2_key qdisc_key(const struct helper *ifb)
{
	return (struct dualpi2_key){
		.netns = ifb->key.netns,
		.ifindex = ifb->ifindex,
		.parent = TC_H_ROOT,
	};
}

bool ingress_find(const struct registration *reg, const char *ifname, struct ingress *ingress)
{
	struct dualpi2_key key = {};
	struct link link;

	*ingress = (struct ingress){ .ifname = ifname };
	if (!interface_index(ifname, &key.ifindex) || !current_netns(&key.netns))
		return false;
	if (!link_read(key.ifindex, &link))
		return fail(0, "%s: has just been removed", ifname);
	ingress->key = key;
	ingress->type = link.type;
	ingress->ifb = (struct helper){ .key = key, .kind = IFB_KIND };
	ingress->ifb.key.parent = DUALPI2_IFB;
	helper_name(IFB_PREFIX, ifname, key.ifindex, ingress->ifb.name);
	snprintf(ingress->ifb.alias, sizeof(ingress->ifb.alias),
		 "what arrives at %s, for " DUALPI2_KIND, ifname);
	return helper_find(reg, &ingress->ifb);
}

/* ---- may it be attached? --------------------------------------------------------- */

static bool has_rate(const struct registration *reg, const struct ingress *ingress)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);
	struct dualpi2_stats live;

	return ingress->ifb.owner == HELPER_OURS && stats_read(reg, &key, &live) &&
	       live.params.rate;
}

/* Filters of clsact come behind all tcx programs, so that they would see no packet any
 * more.
 */
static bool find_filters(const struct ingress *ingress, struct obstacle *obstacle)
{
	bool has_filters;

	if (!qdisc_has_filters(ingress->key.ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
			       &has_filters))
		return false;
	if (has_filters)
		obstacle_set(obstacle,
			     "its ingress filters would see no packet any more: "
			     "`tc filter del dev %s ingress`, or make them tcx programs",
			     ingress->ifname);
	return true;
}

static bool find_obstacle(const struct registration *reg, const struct ingress *ingress,
			  const struct wish *wish, struct obstacle *obstacle)
{
	*obstacle = (struct obstacle){};
	if (ingress->type != ARPHRD_ETHER)
		obstacle_set(obstacle, "is not an Ethernet device, and an ifb takes only those: "
				       "use --ingress on the one below it");
	else if (ingress->ifb.owner == HELPER_FOREIGN)
		obstacle_set(obstacle,
			     "%s is somebody else's device: rename it, or "
			     "`ip link del %s`",
			     ingress->ifb.name, ingress->ifb.name);
	else if (!wishes_rate(wish) && (wish->whole || !has_rate(reg, ingress))) {
		obstacle_set(obstacle, "--ingress: needs --rate, a little less than what the "
				       "bottleneck before it has: without one nothing waits here");
		obstacle->is_usage = true;
	} else if (!tcx_attached(reg, &ingress->key, TCX_INGRESS)) {
		return find_filters(ingress, obstacle);
	}
	return true;
}

bool ingress_allowed(const struct registration *reg, const struct ingress *ingress,
		     const struct wish *wish)
{
	struct obstacle obstacle;

	return find_obstacle(reg, ingress, wish, &obstacle) &&
	       obstacle_absent(&obstacle, ingress->ifname);
}

bool ingress_check(const struct registration *reg, const struct ingress *ingress,
		   const struct wish *wish)
{
	struct obstacle obstacle;

	if (!find_obstacle(reg, ingress, wish, &obstacle))
		return false;
	if (obstacle.text[0])
		return finding_show(FINDING_MISSING, "%s: %s", ingress->ifname, obstacle.text);
	return finding_show(FINDING_OK, "%s is %s", ingress->ifb.name,
			    ingress->ifb.owner == HELPER_OURS ? "its ifb already"
							      : "free as the name of its ifb");
}

/* ---- attach ---------------------------------------------------------------------- */

static bool make_ifb(const struct registration *reg, struct helper *ifb)
{
	if (!helper_announce(reg, ifb) ||
	    (ifb->owner != HELPER_OURS && !link_create(ifb->name, IFB_KIND, &ifb->ifindex)))
		return false;
	ifb->owner = HELPER_OURS;
	return helper_enter(reg, ifb);
}

static bool set_up(const struct helper *ifb)
{
	const struct link_change change = { .up = true, .alias = ifb->alias };

	link_without_addresses(ifb->ifindex);
	return link_change(ifb->ifindex, &change);
}

/* Remove what there is of us, the interface's own pin first: packets then take the
 * straight way.
 */
static bool remove_all(const struct registration *reg, const struct ingress *ingress)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);

	tcx_detach(&ingress->key, TCX_INGRESS);
	if (ingress->ifb.owner == HELPER_OURS) {
		if (!link_delete(ingress->ifb.ifindex))
			return false;
		tcx_detach(&key, TCX_EGRESS);
		instance_forget(reg, &key);
	}
	helper_forget(reg, &ingress->ifb);
	return true;
}

/* The interface as it was before. */
static bool put_back(const struct registration *reg, const struct ingress *ingress)
{
	return settings_return(reg, &ingress->key, SETTING_NO_GRO) && remove_all(reg, ingress);
}

/* The qdisc, at the root of the ifb. */
static bool attach_qdisc(const struct registration *reg, const struct ingress *ingress,
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
	done = attach_allowed(&target, wish) && attach_or_change(reg, &target, wish);
	target_free(&target);
	return done;
}

static bool attach_steps(const struct registration *reg, struct ingress *ingress,
			 const struct wish *wish)
{
	return make_ifb(reg, &ingress->ifb) && set_up(&ingress->ifb) &&
	       tcx_attach(reg, &ingress->key, TCX_INGRESS) && attach_qdisc(reg, ingress, wish);
}

/* What was there stays, changed or not. */
static bool change_live(const struct registration *reg, struct ingress *ingress,
			const struct wish *wish)
{
	bool attached = tcx_attached(reg, &ingress->key, TCX_INGRESS);

	if (!set_up(&ingress->ifb) || (!attached && !tcx_attach(reg, &ingress->key, TCX_INGRESS)) ||
	    !attach_qdisc(reg, ingress, wish)) {
		if (!attached)
			tcx_detach(&ingress->key, TCX_INGRESS);
		return false;
	}
	if (!attached)
		printf("%s: what arrives goes through %s again\n", ingress->ifname,
		       ingress->ifb.name);
	return true;
}

bool ingress_attach(const struct registration *reg, struct ingress *ingress,
		    const struct wish *wish)
{
	if (ingress->ifb.owner == HELPER_OURS && helper_entered(reg, &ingress->ifb))
		return change_live(reg, ingress, wish);
	if (attach_steps(reg, ingress, wish))
		return true;
	put_back(reg, ingress);
	return false;
}

/* ---- unload ---------------------------------------------------------------------- */

static bool is_empty(const struct registration *reg, const struct dualpi2_key *key)
{
	struct dualpi2_stats live;

	stats_refresh(reg);
	return !stats_read(reg, key, &live) || (!live.l.backlog_packets && !live.c.backlog_packets);
}

/* Let the packets that wait in the ifb go at once. What has not gone in time is lost with
 * the device.
 */
static void drain(const struct registration *reg, const struct dualpi2_key *key)
{
	const struct timespec poll = { .tv_nsec = DRAIN_POLL_MS * 1000000L };
	struct dualpi2_stats live;

	if (!stats_read(reg, key, &live))
		return;
	live.params.rate = 0;
	params_change(reg, key, &live.params);
	for (int waited_ms = 0; waited_ms < DRAIN_WAIT_MS && !is_empty(reg, key);
	     waited_ms += DRAIN_POLL_MS)
		nanosleep(&poll, NULL);
}

bool ingress_undo(const struct registration *reg, const struct ingress *ingress, bool *found)
{
	const struct dualpi2_key key = qdisc_key(&ingress->ifb);
	bool had_tcx = tcx_detach(&ingress->key, TCX_INGRESS);

	*found = ingress->ifb.owner == HELPER_OURS || had_tcx;
	if (!*found)
		return true;
	if (ingress->ifb.owner == HELPER_OURS)
		drain(reg, &key);
	return put_back(reg, ingress);
}

/* ---- sweep ----------------------------------------------------------------------- */

/* If an interface is gone, its ifb goes; that may live on, in this namespace or in another. */
static void sweep_one(const struct registration *reg, const struct dualpi2_key *key, __u32 ifindex)
{
	struct ingress ingress = {
		.key = { .netns = key->netns, .ifindex = key->ifindex },
		.ifb = { .key = *key, .kind = IFB_KIND, .ifindex = ifindex },
	};
	const struct dualpi2_key ifb_key = qdisc_key(&ingress.ifb);
	bool is_here = is_current_netns(key->netns);
	struct link link;

	/* The link of an interface that went to another namespace lives on. */
	if (is_here && (!link_look(key->ifindex, &link) || link.ifindex))
		return;
	if (!is_here && (tcx_attached(reg, &ingress.key, TCX_INGRESS) ||
			 tcx_attached(reg, &ifb_key, TCX_EGRESS)))
		return; /* for a loader there */
	verbose("interface %u is gone, and its ifb goes", key->ifindex);
	if (is_here && !helper_find(reg, &ingress.ifb))
		return;
	remove_all(reg, &ingress);
	instance_forget(reg, &ingress.key);
}

void ingress_sweep(const struct registration *reg)
{
	helpers_each(reg, DUALPI2_IFB, sweep_one);
}
