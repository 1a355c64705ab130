// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps, each of which is undone if a later one fails:
 *
 *	ifb		make it, enter it in the map of devices, set it up
 *	tcx ingress	the program that sends packets to the ifb; it lets them pass as
 *			long as no bpf_dualpi2 is in service there
 *	qdisc		last, as on any interface (root.c); its place is entered, too:
 *			from here on packets go through the ifb
 */
#include "attach/ingress.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "attach/borrowed.h"
#include "attach/root.h"
#include "attach/undo.h"
#include "cli/message.h"
#include "interface/device.h"
#include "kernel/link.h"
#include "pinned/ledger.h"
#include "pinned/tcx.h"

/* With the rate lifted what waits is gone within SHAPER_LOOK_NS, unless the device takes nothing.
 */
#define DRAIN_WAIT_MS 2000
#define DRAIN_POLL_MS 2

/* ---- attach ---------------------------------------------------------------------- */

static bool set_up(const struct device *ifb)
{
	const struct link_change change = { .up = true, .alias = ifb->alias };

	link_without_addresses((int)ifb->ifindex);
	return link_change((int)ifb->ifindex, &change);
}

/* With what is kept for it. */
static bool remove_ifb(const struct registrations *regs, const struct feeder *feeder)
{
	const struct dualpi2_key root = feeder_root(feeder);

	if (!link_delete((int)feeder->ifb.ifindex))
		return false;
	tcx_detach(&root, TCX_EGRESS);
	root_forget(regs, &root);
	return true;
}

/* Is there one that will do? One that was left unfinished may have too few queues. 1; 0; -errno,
 * which is reported.
 */
static int has_ifb(const struct feeder *feeder, const struct request *request)
{
	struct link link;
	int found = feeder->ifb.ifindex ? link_look((int)feeder->ifb.ifindex, &link) : 0;

	return found <= 0 || feeder->aqm || !request->mq ? found : link.tx_queues > 1;
}

static bool make_ifb(const struct registrations *regs, struct feeder *feeder,
		     const struct request *request)
{
	int found = has_ifb(feeder, request), error = 0;

	if (found < 0 || (!found && feeder->ifb.ifindex && !remove_ifb(regs, feeder)))
		return false;
	if (!found)
		error = device_make(&feeder->ifb, feeder->ifname, request->mq ? feeder->queues : 0);
	if (error == -EOPNOTSUPP)
		return fail(-error, "the kernel has no ifb devices: `modprobe ifb`, or take a "
				    "kernel with it");
	return !error && device_enter(&feeder->ifb);
}

/* Remove what there is of us, the interface's own pin first: packets then take the
 * straight way.
 */
static bool remove_all(const struct registrations *regs, const struct feeder *feeder)
{
	tcx_detach(&feeder->key, TCX_INGRESS);
	if (feeder->ifb.ifindex && !remove_ifb(regs, feeder))
		return false;
	device_forget(&feeder->ifb);
	return true;
}

/* The interface as it was before. */
static bool put_back(const struct registrations *regs, const struct feeder *feeder)
{
	return setting_return(&feeder->key, SETTING_NO_GRO) && remove_all(regs, feeder);
}

/* Packets come to the ifb as long as its first qdisc is in service. */
static bool enter_qdisc(struct feeder *feeder, struct target *target)
{
	const __u32 known = feeder->ifb.parent;

	if (!tree_read(target->key.ifindex, &target->tree))
		return false;
	feeder->ifb.parent = tree_first_of_ours(&target->tree);
	return feeder->ifb.parent == known || device_enter(&feeder->ifb);
}

/* The qdisc, at the root of the ifb, or one for each of its queues. */
static bool attach_qdisc(const struct registrations *regs, struct feeder *feeder,
			 const struct request *request, struct outcome *outcome)
{
	TARGET target;

	return target_find_ifb(feeder, &target) && target_allowed(&target, request) &&
	       root_attach(regs, &target, request, outcome) && enter_qdisc(feeder, &target);
}

bool ingress_attach(const struct registrations *regs, const char *ifname,
		    const struct request *request, struct outcome *outcome)
{
	const struct registration *reg, *former;
	bool is_new, attaches;
	struct feeder feeder;
	int attached;

	if (!feeder_find(ifname, &feeder))
		return false;
	reg = registration_of(regs, feeder_aqm(&feeder, request));
	former = feeder_registration(regs, &feeder);
	is_new = !feeder.ifb.entered;
	attached = tcx_look(former, &feeder.key, TCX_INGRESS);
	attaches = !attached || former != reg;
	if (attached < 0)
		return false;
	if (make_ifb(regs, &feeder, request) && set_up(&feeder.ifb) &&
	    (!attaches || tcx_attach(reg, &feeder.key, TCX_INGRESS)) &&
	    attach_qdisc(regs, &feeder, request, outcome)) {
		outcome->ifname = ifname;
		outcome->is_fed_again = !is_new && !attached;
		memcpy(outcome->ifb, feeder.ifb.name, sizeof(outcome->ifb));
		return true;
	}
	/* What was there stays, changed or not. */
	if (is_new)
		put_back(regs, &feeder);
	else if (!attached)
		tcx_detach(&feeder.key, TCX_INGRESS);
	else if (attaches)
		tcx_attach(former, &feeder.key, TCX_INGRESS);
	return false;
}

/* ---- unload ---------------------------------------------------------------------- */

/* Let the packets that wait in the ifb go at once. What has not gone in time is lost with
 * the device.
 */
static void drain(const struct registrations *regs, const struct feeder *feeder)
{
	const struct timespec poll = { .tv_nsec = DRAIN_POLL_MS * 1000000L };
	struct dualpi2_params params;
	TARGET target;

	if (!target_find_ifb(feeder, &target) || root_live(regs, &target, &params) <= 0)
		return;
	params.rate = 0;
	root_change(regs, &target, &params);
	for (int waited_ms = 0; waited_ms < DRAIN_WAIT_MS && !root_is_empty(regs, &target);
	     waited_ms += DRAIN_POLL_MS)
		nanosleep(&poll, NULL);
}

bool ingress_undo(const struct registrations *regs, const char *ifname, struct outcome *outcome)
{
	struct feeder feeder;
	int had_tcx;

	if (!feeder_find(ifname, &feeder))
		return false;
	had_tcx = tcx_detach(&feeder.key, TCX_INGRESS);
	if (had_tcx < 0 || (!had_tcx && !feeder.ifb.ifindex))
		return !had_tcx;
	if (feeder.ifb.ifindex)
		drain(regs, &feeder);
	if (!put_back(regs, &feeder))
		return false;
	outcome->kind = OUTCOME_UNLOADED;
	return true;
}

/* ---- sweep ----------------------------------------------------------------------- */

static int feeder_is_gone(const struct registrations *regs, const struct dualpi2_key *key)
{
	return interface_is_gone(regs, key, TCX_INGRESS);
}

static void tell_removed(const struct link *link, const struct device *ifb, outcome_tell *tell)
{
	struct outcome outcome = { .kind = OUTCOME_REMOVED };

	memcpy(outcome.label, link->name, sizeof(link->name));
	memcpy(outcome.ifb, ifb->name, sizeof(outcome.ifb));
	tell(&outcome);
}

static void remove_left_over(const struct registrations *regs, const struct device *ifb,
			     const void *data)
{
	const struct feeder feeder = { .key = interface_key(&ifb->key), .ifb = *ifb };
	outcome_tell *const *tell = data;
	struct link link;
	int found = target_look(&feeder.key, &link);

	if (found < 0)
		return;
	/* It may be the one that the ifb was made for: then somebody detached our program from it.
	 */
	if (found) {
		setting_return(&feeder.key, SETTING_NO_GRO);
		if (ifb->ifindex)
			tell_removed(&link, ifb, *tell);
	} else {
		ledger_erase(LEDGER_SETTINGS, &feeder.key);
	}
	remove_all(regs, &feeder);
}

void ingress_sweep(const struct registrations *regs, __u32 spared, outcome_tell *tell)
{
	devices_sweep(regs, &ifb_kind, spared, feeder_is_gone, remove_left_over, &tell);
}
