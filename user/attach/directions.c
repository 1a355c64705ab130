// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/directions.h"

#include <stdio.h>

#include "attach/gso.h"
#include "attach/ingress.h"
#include "attach/root.h"
#include "attach/subscribers.h"
#include "attach/undo.h"
#include "check/host.h"
#include "check/interface.h"
#include "check/report.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/host_maps.h"
#include "pinned/maps.h"
#include "pinned/pins.h"
#include "pinned/subscriber_maps.h"

/* A direction before anything is done. */
struct before {
	const struct aqm *wanted;
	bool is_live; /* is it attached, with `aqm` and what is in force? */
	const struct aqm *aqm;
	__u32 handle;
	struct dualpi2_params in_force;
	struct dualpi2_key key;		/* of the root */
	struct subscribers subscribers; /* if there is a direction that may fail behind it */
};

/* ---- what leaves ------------------------------------------------------------------- */

static bool look_at_root(const struct registrations *regs, const char *ifname,
			 const struct request *request, struct before *before)
{
	TARGET target;
	int live;

	if (!target_find(ifname, &target) || !target_allowed(&target, request))
		return false;
	before->wanted = target_aqm(&target, request);
	before->aqm = tree_aqm(&target.tree);
	before->handle = target.tree.root.handle;
	before->key = target.key;
	live = root_live(regs, &target, &before->in_force);
	before->is_live = live > 0;
	return live >= 0;
}

static bool attach_root(const struct registrations *regs, const char *ifname,
			const struct request *request, struct outcome *outcome)
{
	TARGET target;

	return target_find(ifname, &target) && root_attach(regs, &target, request, outcome);
}

/* What would be in force: what is already, and what is requested. */
static bool wanted_params(const struct registrations *regs, const struct target *target,
			  const struct request *request, struct dualpi2_params *wanted,
			  const char **host_side)
{
	const struct aqm *now = tree_aqm(&target->tree), *aqm = target_aqm(target, request);
	int known = 0;

	*wanted = params_default(aqm);
	if (now)
		known = conf_read(registration_of(regs, now), &target->key, wanted);
	return expect_known(known, "the parameters of %s", target->label) >= 0 &&
	       root_params(target, request, now, aqm, wanted, host_side);
}

/* What an interface that may have it will do with it. */
static bool check_use(const struct registrations *regs, const struct target *target,
		      const struct link *link, const struct request *request)
{
	const struct aqm *const aqm = target_aqm(target, request);
	struct dualpi2_params wanted;
	const char *host_side;

	if (!wanted_params(regs, target, request, &wanted, &host_side) ||
	    !subscribers_have_room(registration_of(regs, aqm), target, request->subscribers) ||
	    !target_check_room(registration_of(regs, aqm), target, link, request))
		return false;
	if (host_side)
		report_hint(host_side);
	request_report(request, aqm, &wanted);
	interface_report(link, aqm, &wanted, target_will_be_mq(target, request));
	return !wanted.split_gso || gso_check(target, &wanted);
}

static bool check_root(const struct registrations *regs, const char *ifname,
		       const struct link *link, const struct request *request)
{
	TARGET target;

	return target_find(ifname, &target) && target_check(&target, request) &&
	       check_use(regs, &target, link, request);
}

/* ---- what arrives ------------------------------------------------------------------ */

static bool look_at_ingress(const struct registrations *regs, const char *ifname,
			    const struct request *request, struct before *before)
{
	struct feeder feeder;
	int live;

	if (!feeder_find(ifname, &feeder) || !feeder_allowed(regs, &feeder, request))
		return false;
	before->wanted = feeder_aqm(&feeder, request);
	before->aqm = feeder.aqm;
	before->handle = feeder.handle;
	before->key = feeder_root(&feeder);
	live = feeder_live(regs, &feeder, &before->in_force);
	before->is_live = live > 0;
	return live >= 0;
}

static bool check_ifb(const struct registrations *regs, const struct feeder *feeder,
		      const struct request *request)
{
	const struct aqm *const aqm = feeder_aqm(feeder, request);
	struct link link;
	TARGET target;

	return target_find_ifb(feeder, &target) && target_check(&target, request) &&
	       link_expect((int)target.key.ifindex, target.ifname, &link) &&
	       target_check_room(registration_of(regs, aqm), &target, &link, request);
}

static bool check_ingress(const struct registrations *regs, const char *ifname,
			  const struct link *link, const struct request *request)
{
	struct feeder feeder;

	(void)link;
	return feeder_find(ifname, &feeder) && feeder_check(regs, &feeder, request) &&
	       (!feeder.aqm || check_ifb(regs, &feeder, request));
}

/* ---- both -------------------------------------------------------------------------- */

static const struct {
	bool (*look)(const struct registrations *regs, const char *ifname,
		     const struct request *request,
		     struct before *before); /* false as well if it is not allowed */
	bool (*attach)(const struct registrations *regs, const char *ifname,
		       const struct request *request, struct outcome *outcome);
	bool (*unload)(const struct registrations *regs, const char *ifname,
		       struct outcome *outcome);
	bool (*check)(const struct registrations *regs, const char *ifname, const struct link *link,
		      const struct request *request);
} directions[N_DIRECTIONS] = {
	[EGRESS] = { look_at_root, attach_root, root_undo, check_root },
	[INGRESS] = { look_at_ingress, ingress_attach, ingress_undo, check_ingress },
};

/* Refuse before the registration is made, which takes a second. */
static bool look_at_all(const struct registrations *regs, const char *ifname,
			const struct requests *requests, struct before before[])
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		if (requests->has[i] &&
		    !directions[i].look(regs, ifname, &requests->of[i], &before[i]))
			return false;
	}
	return true;
}

/* Of one direction alone, what fails puts them back itself. */
static bool note_subscribers(const struct registrations *regs, const struct requests *requests,
			     struct before before[])
{
	for (int i = 0; i < N_DIRECTIONS && requests->whole; i++) {
		if (requests->has[i] && before[i].is_live &&
		    !subscribers_read_live(registration_of(regs, before[i].aqm), &before[i].key,
					   &before[i].subscribers))
			return false;
	}
	return true;
}

/* Maps for them are made when it is attached, or what was there is put back. */
static bool will_have_many(const struct requests *requests, const struct before before[])
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		if (requests->has[i] && (aqm_has_many(before[i].wanted) ||
					 (before[i].aqm && aqm_has_many(before[i].aqm))))
			return true;
	}
	return false;
}

/* Programs that nobody uses any more, as their interface was deleted, are loaded anew where it
 * would take a right to see their types that loading does not.
 */
static void drop_without_types(struct registration *reg)
{
	if (registration_is_open(reg) && aqm_has_many(reg->aqm) && reg->types < 0 &&
	    !registration_in_use(reg))
		registration_remove(reg);
}

static bool have_registrations(struct registrations *regs, const struct requests *requests,
			       const struct before before[])
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		struct registration *reg =
			requests->has[i] ? registration_of(regs, before[i].wanted) : NULL;

		if (reg)
			drop_without_types(reg);
		if (reg && !registration_is_open(reg) && !registration_make(reg, host_refused))
			return false;
	}
	pins_keep_privilege(will_have_many(requests, before) ? PRIVILEGE_NET | PRIVILEGE_LOAD
							     : PRIVILEGE_NET);
	return true;
}

static bool attach(const struct registrations *regs, const char *ifname, enum direction direction,
		   const struct request *request, outcome_tell *tell)
{
	struct outcome outcome = {};
	const bool done = directions[direction].attach(regs, ifname, request, &outcome);

	if (done)
		tell(&outcome);
	return done;
}

/* Nothing of us is to be there; what was before something else failed (`is_undo`), or what is
 * requested.
 */
static bool take_away(const struct registrations *regs, const char *ifname,
		      enum direction direction, bool is_undo, outcome_tell *tell)
{
	struct outcome outcome = { .ifname = ifname };
	const bool done = directions[direction].unload(regs, ifname, &outcome);

	snprintf(outcome.label, sizeof(outcome.label), "%s, %s", ifname, direction_name(direction));
	if (done && is_undo)
		outcome.kind = OUTCOME_PUT_BACK;
	tell(&outcome);
	return done;
}

/* Best effort: what failed before is reported already. */
static void put_back(const struct registrations *regs, const char *ifname, enum direction direction,
		     struct before *before, outcome_tell *tell)
{
	const struct request former = {
		.params = params_none,
		.aqm = before->aqm,
		.handle = before->handle,
		.former = &before->in_force,
		.subscribers = before->subscribers.of ? &before->subscribers : NULL,
	};

	if (before->is_live)
		attach(regs, ifname, direction, &former, tell);
	else
		take_away(regs, ifname, direction, true, tell);
}

/* Nothing is to be there that is not requested. */
static bool remove_unrequested(const struct registrations *regs, const char *ifname,
			       const struct requests *requests, outcome_tell *tell)
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		if (!requests->has[i] && !take_away(regs, ifname, i, false, tell))
			return false;
	}
	return true;
}

static bool attach_all(struct registrations *regs, const char *ifname,
		       const struct requests *requests, struct before before[], outcome_tell *tell)
{
	bool done = true;
	int next;

	if (!look_at_all(regs, ifname, requests, before) ||
	    !note_subscribers(regs, requests, before) ||
	    !have_registrations(regs, requests, before))
		return false;
	for (next = 0; done && next < N_DIRECTIONS; next++)
		done = !requests->has[next] ||
		       attach(regs, ifname, next, &requests->of[next], tell);
	if (done && (!requests->whole || remove_unrequested(regs, ifname, requests, tell)))
		return true;
	/* The step that failed has put itself back. */
	for (int i = done ? next : next - 1; i-- > 0;) {
		if (requests->has[i])
			put_back(regs, ifname, i, &before[i], tell);
	}
	return false;
}

bool directions_attach(struct registrations *regs, const char *ifname,
		       const struct requests *requests, outcome_tell *tell)
{
	struct before before[N_DIRECTIONS] = {};
	const bool done = attach_all(regs, ifname, requests, before, tell);

	for (int i = 0; i < N_DIRECTIONS; i++)
		subscribers_free(&before[i].subscribers);
	return done;
}

void directions_sweep_maps(const struct registrations *regs)
{
	host_maps_sweep(regs);
	subscriber_maps_sweep(regs);
}

bool directions_unload(const struct registrations *regs, const char *ifname,
		       const struct requests *requests, struct outcome *outcome)
{
	bool done = true;

	for (int i = 0; i < N_DIRECTIONS; i++) {
		if (requests->has[i])
			done &= directions[i].unload(regs, ifname, outcome);
	}
	directions_sweep_maps(regs);
	return done;
}

bool directions_check(const struct registrations *regs, const char *ifname, const struct link *link,
		      const struct requests *requests)
{
	bool passed = true;

	for (int i = 0; passed && i < N_DIRECTIONS; i++)
		passed = !requests->has[i] ||
			 directions[i].check(regs, ifname, link, &requests->of[i]);
	return passed;
}

void directions_sweep(const struct registrations *regs, __u32 spared, outcome_tell *tell)
{
	ingress_sweep(regs, spared, tell);
	gso_sweep(regs);
	root_sweep(regs);
	directions_sweep_maps(regs);
}
