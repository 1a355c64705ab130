// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/directions.h"

#include <stdio.h>

#include "attach/gso.h"
#include "attach/ingress.h"
#include "attach/root.h"
#include "check/host.h"
#include "check/interface.h"
#include "check/report.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/maps.h"
#include "pinned/pins.h"

/* Freed at the end of its block; target_find() comes first. */
#define TARGET struct target __attribute__((cleanup(target_free)))

/* A direction before anything is done. */
struct before {
	const struct aqm *wanted;
	bool is_live; /* is it attached, with `aqm` and what is in force? */
	const struct aqm *aqm;
	__u32 handle;
	struct dualpi2_params in_force;
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
	live = root_live(regs, &target, &before->in_force);
	before->is_live = live > 0;
	return live >= 0;
}

static bool attach_root(const struct registrations *regs, const char *ifname,
			const struct request *request)
{
	TARGET target;

	return target_find(ifname, &target) && root_attach(regs, &target, request);
}

static bool unload_root(const struct registrations *regs, const char *ifname, bool *found)
{
	TARGET target;

	return target_find(ifname, &target) && root_undo(regs, &target, found);
}

/* What would be in force: what is already, and what is requested. */
static bool wanted_params(const struct registrations *regs, const struct target *target,
			  const struct request *request, struct dualpi2_params *wanted)
{
	const struct aqm *now = tree_aqm(&target->tree), *aqm = target_aqm(target, request);
	int known = 0;

	*wanted = params_default(aqm);
	if (now)
		known = conf_read(registration_of(regs, now), &target->key, wanted);
	if (expect_known(known, "the parameters of %s", target->label) < 0)
		return false;
	if (now != aqm)
		request_take_over(aqm, wanted);
	return request_apply(request, aqm, wanted) && gso_decide(target, wanted);
}

/* What an interface that may have it will do with it. */
static bool check_use(const struct registrations *regs, const struct target *target,
		      const struct link *link, const struct request *request)
{
	bool is_mq = tree_owner(&target->tree) == OWNER_US && tree_is_mq(&target->tree);
	struct dualpi2_params wanted;

	if (!wanted_params(regs, target, request, &wanted) ||
	    !target_check_room(registration_of(regs, target_aqm(target, request)), target, link,
			       request))
		return false;
	request_report(request, target_aqm(target, request), &wanted);
	interface_report(link, target_aqm(target, request), &wanted, request->mq || is_mq);
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
	live = feeder_live(regs, &feeder, &before->in_force);
	before->is_live = live > 0;
	return live >= 0;
}

static bool attach_ingress(const struct registrations *regs, const char *ifname,
			   const struct request *request)
{
	struct feeder feeder;

	return feeder_find(ifname, &feeder) && ingress_attach(regs, &feeder, request);
}

static bool unload_ingress(const struct registrations *regs, const char *ifname, bool *found)
{
	struct feeder feeder;

	return feeder_find(ifname, &feeder) && ingress_undo(regs, &feeder, found);
}

static bool check_ingress(const struct registrations *regs, const char *ifname,
			  const struct link *link, const struct request *request)
{
	struct feeder feeder;

	(void)link;
	return feeder_find(ifname, &feeder) && feeder_check(regs, &feeder, request);
}

/* ---- both -------------------------------------------------------------------------- */

static const struct {
	bool (*look)(const struct registrations *regs, const char *ifname,
		     const struct request *request,
		     struct before *before); /* false as well if it is not allowed */
	bool (*attach)(const struct registrations *regs, const char *ifname,
		       const struct request *request);
	bool (*unload)(const struct registrations *regs, const char *ifname, bool *found);
	bool (*check)(const struct registrations *regs, const char *ifname, const struct link *link,
		      const struct request *request);
} directions[N_DIRECTIONS] = {
	[EGRESS] = { look_at_root, attach_root, unload_root, check_root },
	[INGRESS] = { look_at_ingress, attach_ingress, unload_ingress, check_ingress },
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

static bool have_registrations(struct registrations *regs, const struct requests *requests,
			       const struct before before[])
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		struct registration *reg =
			requests->has[i] ? registration_of(regs, before[i].wanted) : NULL;

		if (reg && !registration_is_open(reg) && !registration_make(reg, host_refused))
			return false;
	}
	pins_keep_privilege(PRIVILEGE_NET);
	return true;
}

/* Best effort: what failed before is reported already. */
static void put_back(const struct registrations *regs, const char *ifname, enum direction direction,
		     const struct before *before)
{
	const struct request former = {
		.params = params_none,
		.aqm = before->aqm,
		.handle = before->handle,
		.former = &before->in_force,
	};
	bool found;

	if (before->is_live)
		directions[direction].attach(regs, ifname, &former);
	else if (directions[direction].unload(regs, ifname, &found))
		say_line("%s, %s: as it was before", ifname, direction_name(direction));
}

/* Nothing is to be there that is not requested. */
static bool remove_unrequested(const struct registrations *regs, const char *ifname,
			       const struct requests *requests)
{
	for (int i = 0; i < N_DIRECTIONS; i++) {
		bool found = false;

		if (!requests->has[i] && !directions[i].unload(regs, ifname, &found))
			return false;
		if (found)
			say_line("%s, %s: unloaded", ifname, direction_name(i));
	}
	return true;
}

bool directions_attach(struct registrations *regs, const char *ifname,
		       const struct requests *requests)
{
	struct before before[N_DIRECTIONS];
	bool done = true;
	int next;

	if (!look_at_all(regs, ifname, requests, before) ||
	    !have_registrations(regs, requests, before))
		return false;
	for (next = 0; done && next < N_DIRECTIONS; next++)
		done = !requests->has[next] ||
		       directions[next].attach(regs, ifname, &requests->of[next]);
	if (done && (!requests->whole || remove_unrequested(regs, ifname, requests)))
		return true;
	/* The step that failed has put itself back. */
	for (int i = done ? next : next - 1; i-- > 0;) {
		if (requests->has[i])
			put_back(regs, ifname, i, &before[i]);
	}
	return false;
}

bool direction_unload(const struct registrations *regs, const char *ifname,
		      enum direction direction, bool *found)
{
	return directions[direction].unload(regs, ifname, found);
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

void directions_sweep(const struct registrations *regs, __u32 spared)
{
	ingress_sweep(regs, spared);
	gso_sweep(regs);
	root_sweep(regs);
}
