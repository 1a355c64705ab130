// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/actions.h"

#include <stdio.h>

#include "attach/all.h"
#include "attach/directions.h"
#include "attach/subscribers.h"
#include "check/host.h"
#include "check/report.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "interface/device.h"
#include "interface/left_over.h"
#include "interface/target.h"
#include "kernel/default_qdisc.h"
#include "kernel/link.h"
#include "pinned/pins.h"
#include "pinned/registration.h"

/* Remove what is left of interfaces that are gone, then look whether this one may be changed, with
 * `ours` on it. False: it may not, or that is unknown, which is reported.
 */
static bool begin(const struct registrations *regs, const char *ifname, const struct tcx_ours *ours,
		  bool unloads, outcome_tell *tell)
{
	struct link link;
	int found = unloads ? link_look_for(ifname, &link) : 0;

	directions_sweep(regs, found > 0 ? (__u32)link.ifindex : 0, tell);
	return !message_reported() && device_is_none(ifname) && target_is_known(regs, ifname, ours);
}

bool actions_attach(const char *ifname, const struct requests *requests, outcome_tell *tell)
{
	struct registrations regs, before;
	struct tcx_ours ours;
	bool done;

	if (!host_passes(HOST_ATTACH) || !bpffs_mount() || !default_qdisc_open() ||
	    !tcx_look_for_ours(ifname, &ours))
		return false;
	pins_keep_privilege(PRIVILEGE_LOAD | PRIVILEGE_NET |
			    (registrations_need_types() ? PRIVILEGE_TYPES : 0));
	if (!pins_lock())
		return false;
	if (!registrations_open(&regs)) {
		pins_remove_directory(""); /* made for the lock: if it is empty */
		return false;
	}
	pins_keep_privilege(PRIVILEGE_LOAD | PRIVILEGE_NET);
	before = regs;
	done = begin(&regs, ifname, &ours, false, tell) &&
	       directions_attach(&regs, ifname, requests, tell);
	directions_sweep_maps(&regs);
	/* A kind that was unknown until now is hardly the default (default_qdisc.h). */
	for (size_t i = 0; !done && i < regs.count; i++) {
		if (!registration_is_open(&before.of[i]) && registration_is_open(&regs.of[i]) &&
		    registration_in_use(&regs.of[i]) <= 0)
			registration_remove(&regs.of[i]);
	}
	registrations_remove_unused(&regs);
	return done;
}

static bool may_unload(void)
{
	return host_passes(HOST_UNLOAD) && pins_lock_if_any() && default_qdisc_open();
}

bool actions_unload(const char *ifname, const struct requests *requests, bool if_attached,
		    outcome_tell *tell)
{
	struct outcome outcome = { .ifname = ifname };
	const struct aqm *maybe_default;
	struct registrations regs;
	struct tcx_ours ours;
	struct link link;
	int exists;
	bool done;

	if (!may_unload() || !tcx_look_for_ours(ifname, &ours))
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	if (!registrations_open(&regs) || !begin(&regs, ifname, &ours, true, tell))
		return false;
	exists = if_attached ? link_look_for(ifname, &link) : 1;
	done = exists > 0 ? directions_unload(&regs, ifname, requests, &outcome) : !exists;
	maybe_default = registrations_remove_unused(&regs);
	if (done && !outcome.kind && !if_attached)
		fail(0, "%s: nothing to unload: %s%s", ifname,
		     requests->has[EGRESS] ? aqm_default()->kind : "--ingress",
		     requests->has[EGRESS] ? " is not attached to it" : " is not in use on it");
	done &= !message_reported();
	snprintf(outcome.label, sizeof(outcome.label), "%s", ifname);
	if (!done)
		outcome.kind = OUTCOME_NONE;
	else if (!outcome.kind)
		outcome.kind = OUTCOME_NOT_THERE;
	outcome.registered = done ? maybe_default : NULL;
	tell(&outcome);
	return done;
}

/* ---- all interfaces ------------------------------------------------------------------ */

/* Of those that have anything of us: how many? -1: one could not be restored, or seen. */
static int unload_each(const struct registrations *regs, const struct all *all,
		       const struct requests *requests, outcome_tell *tell)
{
	int count = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct one *one = &all->of[i];
		struct outcome outcome = { .ifname = one->link.name };
		int ours = one_has_ours(one);

		if (ours > 0 && (!begin(regs, one->link.name, &one->tcx, true, tell) ||
				 !directions_unload(regs, one->link.name, requests, &outcome)))
			return -1;
		if (ours < 0)
			return -1;
		snprintf(outcome.label, sizeof(outcome.label), "%s", one->link.name);
		tell(&outcome);
		count += ours;
	}
	return count;
}

bool actions_unload_all(const struct requests *requests, bool if_attached, outcome_tell *tell)
{
	struct outcome kinds = {};
	struct registrations regs;
	struct all all = {};
	int count = -1;

	if (may_unload() && all_read(&all)) {
		pins_keep_privilege(PRIVILEGE_NET);
		if (registrations_open(&regs)) {
			count = unload_each(&regs, &all, requests, tell);
			directions_sweep(&regs, 0, tell);
			kinds.registered = registrations_remove_unused(&regs);
			tell(&kinds);
		}
	}
	all_free(&all);
	if (!count && !if_attached)
		fail(0, "nothing to unload: no interface of this network namespace has it");
	return !message_reported();
}

static void say_text(const char *text)
{
	say_line("%s", text);
}

bool actions_status(outcome_tell *tell)
{
	static struct ifbs ifbs; /* too large for the stack */
	struct registrations regs;
	struct all all = {};
	size_t count = 0;
	bool shown = host_passes(HOST_UNLOAD) && pins_were_seen();

	pins_keep_privilege(PRIVILEGE_NET);
	shown = shown && registrations_open(&regs) && all_read(&all);
	for (size_t i = 0; shown && i < all.count; i++)
		shown = one_tell(&regs, &all.of[i], tell, &count);
	all_free(&all);
	if (shown && !count)
		say_line("%s is attached to no interface of this network namespace",
			 aqm_default()->kind);
	return shown && ifbs_read(&regs, &ifbs) && left_over_each(&regs, &ifbs, say_text);
}

/* ---- check --------------------------------------------------------------------------- */

static bool check_interface(const struct registrations *regs, const char *ifname,
			    const struct tcx_ours *ours, const struct requests *requests)
{
	struct link link;
	int found;

	if (!device_is_none(ifname))
		return false;
	found = link_look_for(ifname, &link);
	if (found <= 0)
		return !found && report_line(REPORT_MISSING, "interface %s: see `ip link`", ifname);
	report_line(REPORT_OK, "interface %s", ifname);
	return target_is_known(regs, ifname, ours) &&
	       directions_check(regs, ifname, &link, requests);
}

bool actions_check(const char *ifname, const struct requests *requests)
{
	static struct ifbs ifbs; /* too large for the stack */
	struct registrations regs;
	struct tcx_ours ours = {};
	bool passed;

	report_begin();
	passed = host_passes(HOST_REPORT);
	if ((!passed && !ifname) || !pins_were_seen() ||
	    (ifname && !tcx_look_for_ours(ifname, &ours)))
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	if (!registrations_open(&regs))
		return false;
	if (passed && ifbs_read(&regs, &ifbs))
		left_over_each(&regs, &ifbs, report_hint);
	return (!ifname || check_interface(&regs, ifname, &ours, requests)) && passed;
}

bool actions_set_rate(const char *ifname, enum direction direction, const char *name, __u64 rate)
{
	struct registrations regs;

	if (!host_passes(HOST_UNLOAD) || !pins_lock_if_any())
		return false;
	pins_keep_privilege(0);
	return registrations_open(&regs) &&
	       subscribers_set_rate(&regs, ifname, direction, name, rate);
}
