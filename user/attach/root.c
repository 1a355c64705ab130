// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching goes in steps, each of which is undone if a later one fails:
 *
 *	ledger		remember the root qdisc that has to go (--replace)
 *	dualpi2_conf	parameters, for the qdiscs to start with
 *	tcx		the program that classifies and marks, pinned (tcx.h)
 *	gso		what splits GSO packets (gso.h)
 *	qdisc		last: from here on packets go through it. With --mq the mq and
 *			the qdisc of its first queue, then those of the others
 */
#include "attach/root.h"

#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "attach/gso.h"
#include "attach/hosts.h"
#include "attach/place.h"
#include "attach/subscribers.h"
#include "cli/message.h"
#include "interface/host_side.h"
#include "kernel/qdisc.h"
#include "pinned/ledger.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

/* ---- the qdiscs of ours on an interface ---------------------------------------- */

/* Where one may be: the root, or the queues of an mq. */
static size_t n_places(const struct target *target)
{
	return tree_is_mq(&target->tree) ? target->tree.n_queues : 1;
}

/* The key of the one of this AQM that is in a place; false if none is. */
static bool key_at(const struct target *target, const struct aqm *aqm, size_t place,
		   struct dualpi2_key *key)
{
	const struct tree *tree = &target->tree;
	const bool is_mq = tree_is_mq(tree);

	*key = target->key;
	if (is_mq)
		key->parent = tree->queues[place].parent;
	return aqm_of_kind(is_mq ? tree->queues[place].kind : tree->root.kind) == aqm;
}

/* Do the maps know them all? If not, the registration that they are of has been deleted by hand.
 * They take no more changes, so new ones must take their place.
 */
int root_live(const struct registrations *regs, const struct target *target,
	      struct dualpi2_params *in_force)
{
	const struct aqm *aqm = tree_aqm(&target->tree);
	struct dualpi2_stats stats;
	struct dualpi2_key key;
	int live = 0;

	for (size_t place = 0; aqm && place < n_places(target); place++) {
		if (!key_at(target, aqm, place, &key))
			continue;
		live = expect_known(stats_read(registration_of(regs, aqm), &key, &stats),
				    "the qdisc of %s", target->label);
		if (live <= 0)
			return live;
		*in_force = stats.params;
	}
	return live;
}

static bool change_all(const struct registration *reg, const struct target *target,
		       const struct dualpi2_params *params)
{
	struct dualpi2_key key;

	for (size_t place = 0; place < n_places(target); place++) {
		if (key_at(target, reg->aqm, place, &key) && !params_change(reg, &key, params))
			return false;
	}
	return true;
}

bool root_change(const struct registrations *regs, const struct target *target,
		 const struct dualpi2_params *params)
{
	return change_all(registration_of(regs, tree_aqm(&target->tree)), target, params);
}

bool root_is_empty(const struct registrations *regs, const struct target *target)
{
	const struct aqm *aqm = tree_aqm(&target->tree);
	const struct registration *reg = registration_of(regs, aqm);
	struct dualpi2_stats live;
	struct dualpi2_key key;

	stats_refresh(reg);
	for (size_t place = 0; place < n_places(target); place++) {
		int found = key_at(target, aqm, place, &key) ? stats_read(reg, &key, &live) : 0;

		if (found < 0 || (found && (live.l.backlog_packets || live.c.backlog_packets)))
			return false;
	}
	return true;
}

/* ---- attach ---------------------------------------------------------------------- */

/* Where nothing is said of frames: those of an ifb have a header that never was on the link. */
static void set_frame(const struct target *target, struct dualpi2_params *params)
{
	if (!target->feeder || target->feeder->type == ARPHRD_ETHER ||
	    params->framing != DUALPI2_FRAMING_RAW)
		return;
	params->framing = DUALPI2_FRAMING_NETWORK;
	params->overhead = 0;
}

bool root_params(const struct target *target, const struct request *request,
		 const struct aqm *former, const struct aqm *aqm, struct dualpi2_params *params,
		 const char **host_side)
{
	const struct dualpi2_params before = *params;

	if (aqm_proper(former) != aqm_proper(aqm))
		request_take_over(aqm, params);
	if (!request_apply(request, aqm, params) || !request_suits(request, aqm, params))
		return false;
	if (former == aqm && !hosts_may_change(target, aqm, before.hosts, params))
		return false;
	if (aqm->variant == AQM_SUBSCRIBERS && params->per_host == DUALPI2_HOSTS_OFF)
		params->per_host = DUALPI2_HOSTS_AUTO;
	set_frame(target, params);
	if (target->feeder)
		params->charges_lost = 1;
	return host_side_decide(target, params, host_side) &&
	       (former != aqm || subscribers_may_change(target, request, aqm, &before, params)) &&
	       gso_decide(target, params);
}

static bool set_split(const struct registration *reg, const struct target *target,
		      const struct dualpi2_params *params)
{
	return params->split_gso ? gso_start(reg, target, params) : gso_stop(target);
}

/* All but the qdiscs. */
static bool prepare(const struct registration *reg, const struct target *target,
		    const struct dualpi2_params *params)
{
	return conf_write(reg, &target->key, params) && tcx_attach(reg, &target->key, TCX_EGRESS) &&
	       set_split(reg, target, params);
}

static void set_attached(const struct target *target, bool is_mq,
			 const struct dualpi2_params *params, struct outcome *outcome)
{
	outcome->kind = OUTCOME_ATTACHED;
	outcome->is_mq = is_mq;
	if (outcome->request->subscribers)
		outcome->subscribers = outcome->request->subscribers->count;
	outcome->params = *params;
	outcome->gso = gso_outcome(target, params);
}

/* Where a qdisc of ours is that the maps do not know, it gives way, and what it took the place of
 * stays remembered.
 */
static bool attach_new(const struct registration *reg, struct target *target,
		       const struct request *request, struct outcome *outcome)
{
	const enum owner owner = tree_owner(&target->tree);
	const bool mq = target_will_be_mq(target, request);
	struct dualpi2_params wanted = params_default(reg->aqm);
	struct qdisc plan = place_plan(target, request);
	MANY_MAPS maps = MANY_NONE;

	if (!root_params(target, request, NULL, reg->aqm, &wanted, &outcome->host_side) ||
	    !many_make(reg, &wanted, request->subscribers, &maps))
		return false;
	if (owner == OWNER_FOREIGN &&
	    !ledger_write(LEDGER_PRIORS, &target->key, &target->tree.root))
		return false;
	if (owner == OWNER_NONE)
		ledger_erase(LEDGER_PRIORS, &target->key);
	if (prepare(reg, target, &wanted) &&
	    place_qdiscs(reg, target, mq, &plan, &maps, request->replace)) {
		set_attached(target, mq, &wanted, outcome);
		return true;
	}
	gso_stop(target);
	tcx_detach(&target->key, TCX_EGRESS);
	conf_forget(reg, &target->key);
	if (owner == OWNER_FOREIGN)
		ledger_erase(LEDGER_PRIORS, &target->key);
	return false;
}

/* ---- another AQM, or another handle ------------------------------------------------- */

/* `root`: what was there, if an mq without its queues. */
static void take_back(const struct registration *reg, const struct registration *former,
		      struct target *target, bool mq, struct qdisc *root,
		      const struct dualpi2_params *in_force, struct subscribers *subscribers)
{
	MANY_MAPS maps = MANY_NONE;

	if (former != reg)
		conf_forget(reg, &target->key);
	if (prepare(former, target, in_force) && tree_read(target->key.ifindex, &target->tree) &&
	    (tree_aqm(&target->tree) != former->aqm || target->tree.root.handle != root->handle) &&
	    many_make(former, in_force, subscribers, &maps))
		place_qdiscs(former, target, mq, root, &maps, true);
}

/* Parameters that every AQM has stay unless others are given. What waits in the queues is lost. */
static bool replace_live(const struct registration *reg, const struct registration *former,
			 struct target *target, const struct request *request,
			 const struct dualpi2_params *in_force, struct outcome *outcome)
{
	const bool mq = target_will_be_mq(target, request);
	struct qdisc root = target->tree.root, plan = place_plan(target, request);
	struct dualpi2_params wanted = *in_force;
	SUBSCRIBERS before = {};
	MANY_MAPS maps = MANY_NONE;

	if (!subscribers_read_live(former, &target->key, &before) ||
	    !root_params(target, request, former->aqm, reg->aqm, &wanted, &outcome->host_side) ||
	    !many_make(reg, &wanted, request->subscribers ?: &before, &maps))
		return false;
	if (!prepare(reg, target, &wanted) || !place_qdiscs(reg, target, mq, &plan, &maps, true)) {
		take_back(reg, former, target, mq, &root, in_force, &before);
		return false;
	}
	if (former != reg)
		conf_forget(former, &target->key);
	outcome->former = former->aqm;
	outcome->former_handle = root.handle;
	set_attached(target, mq, &wanted, outcome);
	return true;
}

/* ---- change ---------------------------------------------------------------------- */

/* Change the parameters of the live qdiscs, and what they start with next time. */
static bool change_params(const struct registration *reg, const struct target *target,
			  const struct dualpi2_params *in_force,
			  const struct dualpi2_params *wanted)
{
	if (!conf_write(reg, &target->key, wanted))
		return false;
	if (change_all(reg, target, wanted))
		return true;
	change_all(reg, target, in_force);
	conf_write(reg, &target->key, in_force);
	return false;
}

/* A queue that is attached again starts with the parameters in force, and stays so if
 * a later step fails. The way GSO packets take is there before it is switched on, and
 * ends after it was switched off.
 */
static bool change_steps(const struct registration *reg, struct target *target,
			 const struct repairs *repairs, const struct dualpi2_params *in_force,
			 const struct dualpi2_params *wanted, struct subscribers_update *update)
{
	if (repairs->tcx && !tcx_attach(reg, &target->key, TCX_EGRESS))
		return false;
	if (wanted->split_gso && !gso_start(reg, target, wanted))
		return false;
	if (repairs->hosts && !hosts_repair(reg, target, in_force))
		return false;
	if (repairs->queues &&
	    (!conf_write(reg, &target->key, in_force) || !place_missing(reg, target) ||
	     !tree_read(target->key.ifindex, &target->tree)))
		return false;
	if (!change_params(reg, target, in_force, wanted))
		return false;
	if (subscribers_do(reg, target, update) && (wanted->split_gso || gso_stop(target)))
		return true;
	change_params(reg, target, wanted, in_force);
	return false;
}

static enum outcome_kind kind_of(const struct request *request,
				 const struct dualpi2_params *in_force,
				 const struct dualpi2_params *wanted, const struct repairs *repairs,
				 size_t subscriber_changes)
{
	if (request->former)
		return OUTCOME_CHANGED_BACK;
	if (request->whole
		    ? memcmp(in_force, wanted, sizeof(*wanted))
		    : params_given(request->params) || in_force->split_above != wanted->split_above)
		return OUTCOME_CHANGED;
	if (subscriber_changes)
		return OUTCOME_CHANGED;
	return repairs->tcx || repairs->gso || repairs->hosts || repairs->subscribers ||
			       repairs->queues
		       ? OUTCOME_REPAIRED
		       : OUTCOME_UNCHANGED;
}

static bool change_live(const struct registration *reg, struct target *target,
			const struct request *request, const struct dualpi2_params *in_force,
			struct outcome *outcome)
{
	struct repairs *const repairs = &outcome->repairs;
	SUBSCRIBERS_UPDATE update = SUBSCRIBERS_NO_UPDATE;
	struct dualpi2_params wanted = *in_force;
	int attached, splits = 1, hosts;
	bool splits_others;

	if (!root_params(target, request, reg->aqm, reg->aqm, &wanted, &outcome->host_side) ||
	    !subscribers_look(reg, target, request->subscribers, &wanted, &update))
		return false;
	attached = tcx_look(reg, &target->key, TCX_EGRESS);
	if (in_force->split_gso && wanted.split_gso && attached >= 0)
		splits = gso_works(reg, target);
	hosts = hosts_work(reg, target);
	if (attached < 0 || splits < 0 || hosts < 0)
		return false;
	*repairs = (struct repairs){
		.tcx = !attached,
		.gso = !splits,
		.hosts = !hosts,
		.subscribers = update.is_new,
		.queues = tree_missing_queues(&target->tree, reg->aqm),
	};
	splits_others = in_force->split_gso != wanted.split_gso ||
			in_force->split_above != wanted.split_above;
	if (!change_steps(reg, target, repairs, in_force, &wanted, &update)) {
		if (repairs->tcx)
			tcx_detach(&target->key, TCX_EGRESS);
		if (splits_others)
			set_split(reg, target, in_force);
		return false;
	}
	outcome->kind = kind_of(request, in_force, &wanted, repairs, update.changes.count);
	outcome->params = wanted;
	memcpy(outcome->subscriber_changes, update.changes.counts, sizeof(update.changes.counts));
	if (splits_others)
		outcome->gso = gso_outcome(target, &wanted);
	return true;
}

bool root_attach(const struct registrations *regs, struct target *target,
		 const struct request *request, struct outcome *outcome)
{
	const struct aqm *now = tree_aqm(&target->tree);
	const struct registration *reg = registration_of(regs, target_aqm(target, request));
	const struct registration *former = now ? registration_of(regs, now) : reg;
	struct dualpi2_params in_force;
	int live = root_live(regs, target, &in_force);

	if (live < 0)
		return false;
	*outcome = (struct outcome){
		.ifname = target->ifname,
		.aqm = reg->aqm,
		.request = request,
	};
	memcpy(outcome->label, target->label, sizeof(outcome->label));
	if (!live) {
		confs_forget(regs, &target->key); /* of an earlier time */
		return attach_new(reg, target, request, outcome);
	}
	if (former == reg && !target_changes_handle(target, request))
		return change_live(reg, target, request, &in_force, outcome);
	return replace_live(reg, former, target, request, &in_force, outcome);
}
