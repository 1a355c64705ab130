// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps, each of which is undone if a later one fails:
 *
 *	dualpi2_ifbs	say that an ifb is being made (number 0), so that it is known as
 *			ours whenever this process ends
 *	ifb		make it, set it up, enter its number
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

#include "instance.h"
#include "link.h"
#include "message.h"
#include "params.h"

#define IFB_KIND "ifb"
#define IFB_PREFIX "in-"
#define IFB_PENDING 0U /* the number of an ifb that is being made */

/* At the lowest rate, 8kbit, the next packet may be due in 1.5 s. */
#define DRAIN_WAIT_MS 2000
#define DRAIN_POLL_MS 2

/* ---- the map of ifbs ----------------------------------------------------------- */

static bool ifb_read(const struct registration *reg, const struct dualpi2_key *key, __u32 *ifindex)
{
	return !bpf_map_lookup_elem(reg->ifbs, key, ifindex);
}

static bool ifb_write(const struct registration *reg, const struct dualpi2_key *key, __u32 ifindex)
{
	if (bpf_map_update_elem(reg->ifbs, key, &ifindex, BPF_ANY))
		return fail(errno, "cannot store the ifb: at most %u interfaces can have one",
			    DUALPI2_MAX_INSTANCES);
	return true;
}

static void ifb_forget(const struct registration *reg, const struct dualpi2_key *key)
{
	bpf_map_delete_elem(reg->ifbs, key);
}

static bool is_ifb(const struct link *link)
{
	return !strcmp(link->kind, IFB_KIND);
}

/* ---- find ------------------------------------------------------------------------ */

/* in-eth0; in-7 where that would be too long for the name of a device. */
static void name_ifb(const char *ifname, __u32 ifindex, char *name)
{
	if (strlen(IFB_PREFIX) + strlen(ifname) < IF_NAMESIZE)
		snprintf(name, IF_NAMESIZE, IFB_PREFIX "%s", ifname);
	else
		snprintf(name, IF_NAMESIZE, IFB_PREFIX "%u", ifindex);
}

/* The recorded ifb under whatever name it or the interface have now, or a device with
 * the name.
 */
static void find_ifb(const struct registration *reg, struct ingress *ingress)
{
	__u32 recorded = IFB_PENDING;
	bool known = ifb_read(reg, &ingress->key, &recorded);
	struct link link;

	ingress->owner = IFB_NONE;
	if (recorded != IFB_PENDING && link_read(recorded, &link) && is_ifb(&link)) {
		ingress->owner = IFB_OURS;
		memcpy(ingress->ifb, link.name, sizeof(ingress->ifb));
	} else if (link_read(if_nametoindex(ingress->ifb), &link)) {
		known = known && recorded == IFB_PENDING && is_ifb(&link);
		ingress->owner = known ? IFB_OURS : IFB_FOREIGN;
	}
	ingress->ifb_key.ifindex = link.ifindex;
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
	ingress->key = ingress->ifb_key = key;
	ingress->ifb_key.parent = TC_H_ROOT;
	ingress->type = link.type;
	name_ifb(ifname, key.ifindex, ingress->ifb);
	find_ifb(reg, ingress);
	return true;
}

/* ---- may it be attached? --------------------------------------------------------- */

static bool has_rate(const struct registration *reg, const struct ingress *ingress)
{
	struct dualpi2_stats live;

	return ingress->owner == IFB_OURS && stats_read(reg, &ingress->ifb_key, &live) &&
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
	else if (ingress->owner == IFB_FOREIGN)
		obstacle_set(obstacle,
			     "%s is somebody else's device: rename it, or "
			     "`ip link del %s`",
			     ingress->ifb, ingress->ifb);
	else if (!wishes_rate(wish) && !has_rate(reg, ingress)) {
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
		printf("MISSING  %s: %s\n", ingress->ifname, obstacle.text);
	else if (ingress->owner == IFB_OURS)
		printf("ok       %s is its ifb already\n", ingress->ifb);
	else
		printf("ok       %s is free as the name of its ifb\n", ingress->ifb);
	return !obstacle.text[0];
}

/* ---- attach ---------------------------------------------------------------------- */

static bool make_ifb(const struct registration *reg, struct ingress *ingress)
{
	if (!ifb_write(reg, &ingress->key, IFB_PENDING))
		return false;
	if (ingress->owner == IFB_NONE && !link_create(ingress->ifb, IFB_KIND))
		return false;
	ingress->owner = IFB_OURS;
	ingress->ifb_key.ifindex = if_nametoindex(ingress->ifb);
	return ifb_write(reg, &ingress->key, ingress->ifb_key.ifindex);
}

/* Remove what there is of us, the interface's own pin first: packets then take the
 * straight way.
 */
static bool remove_all(const struct registration *reg, const struct ingress *ingress)
{
	tcx_detach(&ingress->key, TCX_INGRESS);
	if (ingress->owner == IFB_OURS) {
		if (!link_delete(ingress->ifb_key.ifindex))
			return false;
		tcx_detach(&ingress->ifb_key, TCX_EGRESS);
		instance_forget(reg, &ingress->ifb_key);
	}
	ifb_forget(reg, &ingress->key);
	return true;
}

/* The qdisc, at the root of the ifb. */
static bool attach_qdisc(const struct registration *reg, const struct ingress *ingress,
			 const struct wish *wish)
{
	char label[2 * IF_NAMESIZE + 16];
	struct target target;
	bool done;

	if (!target_find(ingress->ifb, &target))
		return false;
	snprintf(label, sizeof(label), "%s, ingress (%s)", ingress->ifname, ingress->ifb);
	target.label = label;
	done = attach_allowed(&target, wish) && attach_or_change(reg, &target, wish);
	target_free(&target);
	return done;
}

static bool attach_steps(const struct registration *reg, struct ingress *ingress,
			 const struct wish *wish)
{
	return make_ifb(reg, ingress) && link_set_up(ingress->ifb_key.ifindex) &&
	       tcx_attach(reg, &ingress->key, TCX_INGRESS) && attach_qdisc(reg, ingress, wish);
}

/* What was there stays, changed or not. */
static bool change_live(const struct registration *reg, struct ingress *ingress,
			const struct wish *wish)
{
	bool attached = tcx_attached(reg, &ingress->key, TCX_INGRESS);

	if (!link_set_up(ingress->ifb_key.ifindex) ||
	    (!attached && !tcx_attach(reg, &ingress->key, TCX_INGRESS)) ||
	    !attach_qdisc(reg, ingress, wish)) {
		if (!attached)
			tcx_detach(&ingress->key, TCX_INGRESS);
		return false;
	}
	if (!attached)
		printf("%s: what arrives goes through %s again\n", ingress->ifname, ingress->ifb);
	return true;
}

bool ingress_attach(const struct registration *reg, struct ingress *ingress,
		    const struct wish *wish)
{
	__u32 recorded = IFB_PENDING;

	ifb_read(reg, &ingress->key, &recorded);
	if (ingress->owner == IFB_OURS && recorded != IFB_PENDING)
		return change_live(reg, ingress, wish);
	if (attach_steps(reg, ingress, wish))
		return true;
	remove_all(reg, ingress);
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

bool ingress_undo(const struct registration *reg, const struct ingress *ingress)
{
	bool had_tcx = tcx_detach(&ingress->key, TCX_INGRESS);

	if (ingress->owner != IFB_OURS && !had_tcx)
		return fail(0, "%s: nothing to unload: --ingress is not in use on it",
			    ingress->ifname);
	if (ingress->owner == IFB_OURS)
		drain(reg, &ingress->ifb_key);
	return remove_all(reg, ingress);
}

/* ---- sweep ----------------------------------------------------------------------- */

static bool interface_exists(__u32 ifindex)
{
	char name[IF_NAMESIZE];

	return if_indextoname(ifindex, name);
}

/* An interface's link is dead. The ifb may live on, in this namespace or in another. */
static void sweep_one(const struct registration *reg, const struct dualpi2_key *key, bool is_here)
{
	struct ingress ingress = { .key = *key, .ifb_key = *key };
	struct link link;

	ifb_read(reg, key, &ingress.ifb_key.ifindex);
	if (!is_here && tcx_attached(reg, &ingress.ifb_key, TCX_EGRESS))
		return; /* for a loader there */
	verbose("interface %u is gone, and its ifb goes", key->ifindex);
	if (is_here && link_read(ingress.ifb_key.ifindex, &link) && is_ifb(&link))
		ingress.owner = IFB_OURS;
	remove_all(reg, &ingress);
}

void ingress_sweep(const struct registration *reg)
{
	struct dualpi2_key keys[DUALPI2_MAX_INSTANCES], *previous = NULL;
	size_t count = 0;
	__u32 here;

	if (!current_netns(&here))
		return;
	while (count < DUALPI2_MAX_INSTANCES &&
	       !bpf_map_get_next_key(reg->ifbs, previous, &keys[count]))
		previous = &keys[count++];
	for (size_t i = 0; i < count; i++) {
		bool is_here = keys[i].netns == here;

		if (!tcx_attached(reg, &keys[i], TCX_INGRESS) &&
		    !(is_here && interface_exists(keys[i].ifindex)))
			sweep_one(reg, &keys[i], is_here);
	}
}
