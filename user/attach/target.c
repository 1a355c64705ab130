// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/target.h"

#include <linux/pkt_sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach/borrowed.h"
#include "check/report.h"
#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

void obstacle_set(struct obstacle *obstacle, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(obstacle->text, sizeof(obstacle->text), format, args);
	va_end(args);
}

bool obstacle_absent(const struct obstacle *obstacle, const char *label)
{
	if (!obstacle->text[0])
		return true;
	if (obstacle->is_usage)
		return fail_usage("%s: %s", label, obstacle->text);
	return fail(0, "%s: %s", label, obstacle->text);
}

bool target_find(const char *ifname, struct target *target)
{
	*target = (struct target){
		.ifname = ifname,
		.label = ifname,
		.key.parent = TC_H_ROOT,
	};
	return link_index(ifname, &target->key.ifindex) && netns_current(&target->key.netns) &&
	       tree_read(target->key.ifindex, &target->tree);
}

void target_free(struct target *target)
{
	tree_free(&target->tree);
}

const struct aqm *target_aqm(const struct target *target, const struct wish *wish)
{
	return wish->aqm ?: tree_aqm(&target->tree) ?: aqm_default();
}

/* ---- may it be attached? ------------------------------------------------------- */

bool wish_has_rate(const struct wish *wish)
{
	const char *text = params_given_as(wish->params, "rate");
	uint64_t rate;

	return text && value_read(params_find("rate"), text, &rate) == VALUE_OK && rate;
}

bool wish_apply(const struct wish *wish, const struct aqm *aqm, struct dualpi2_params *params)
{
	char why[PARAMS_WHY_MAX];

	if (wish->whole)
		*params = params_default(aqm);
	return params_apply(wish->params, aqm, params, why) || fail_usage("%s", why);
}

void wish_take_over(const struct aqm *aqm, struct dualpi2_params *params)
{
	const struct dualpi2_params fresh = params_default(aqm);

	memcpy(params->aqm, fresh.aqm, sizeof(params->aqm));
}

bool wish_fits(const struct wish *wish, const struct aqm *aqm)
{
	struct dualpi2_params scratch;
	char why[PARAMS_WHY_MAX];

	for (size_t i = 0; !aqm && aqms[i]; i++) {
		scratch = params_default(aqms[i]);
		if (params_apply(wish->params, aqms[i], &scratch, why))
			return true;
	}
	aqm = aqm ?: aqm_default();
	scratch = params_default(aqm);
	return wish_apply(wish, aqm, &scratch);
}

static const struct tree_queue *foreign_queue(const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_queues; i++) {
		if (queue_owner(&tree->queues[i]) == OWNER_FOREIGN)
			return &tree->queues[i];
	}
	return NULL;
}

/* Where bpf_dualpi2 is attached already. */
static void find_obstacle_to_change(const struct target *target, const struct wish *wish,
				    struct obstacle *obstacle)
{
	const struct tree_queue *foreign = foreign_queue(&target->tree);
	char text[QDISC_TEXT_MAX];

	if (!tree_is_mq(&target->tree)) {
		if (wish->mq)
			obstacle_set(obstacle,
				     "%s is attached as one qdisc for all queues: first "
				     "`dualpi2-load %s --unload`",
				     target->tree.root.kind, target->ifname);
		return;
	}
	obstacle->is_usage = wish_has_rate(wish);
	if (obstacle->is_usage)
		obstacle_set(
			obstacle,
			"--rate: is not for an mq, each queue would send at the full rate: first "
			"`dualpi2-load %s --unload`",
			target->ifname);
	else if (foreign && !wish->replace)
		obstacle_set(
			obstacle,
			"somebody configured one of its queues: `%s`; --replace takes its place, "
			"for good",
			qdisc_text(foreign->kind, foreign->handle, foreign->parent, text));
}

/* Where somebody configured the root. */
static bool find_obstacle_to_replace(const struct target *target, const struct wish *wish,
				     struct obstacle *obstacle)
{
	const struct qdisc *root = &target->tree.root;
	char text[QDISC_TEXT_MAX], why[TREE_WHY_MAX];
	int restorable = tree_restorable(target->key.ifindex, &target->tree, why);

	if (restorable < 0)
		return false;
	qdisc_text(root->kind, root->handle, TC_H_ROOT, text);
	if (!restorable)
		obstacle_set(
			obstacle,
			"somebody configured its root, and --unload could not put back `%s` with "
			"%s: note it, then `tc qdisc del dev %s root`",
			text, why, target->ifname);
	else if (!wish->replace)
		obstacle_set(obstacle,
			     "somebody configured its root: `%s`; --replace takes its place", text);
	return true;
}

/* What mq_init_common() of net/sched/sch_mq.c asks for. */
static bool find_obstacle_to_mq(const struct target *target, struct obstacle *obstacle)
{
	struct link link;

	if (!link_expect((int)target->key.ifindex, target->ifname, &link))
		return false;
	if (link.tx_queues < 2)
		obstacle_set(obstacle,
			     "has one transmit queue, and mq is for several: leave out --mq");
	return true;
}

static bool find_obstacle(const struct target *target, const struct wish *wish,
			  struct obstacle *obstacle)
{
	*obstacle = (struct obstacle){};
	if (wish->mq && !find_obstacle_to_mq(target, obstacle))
		return false;
	if (obstacle->text[0])
		return true;
	switch (tree_owner(&target->tree)) {
	case OWNER_NONE:
		break;
	case OWNER_US:
		find_obstacle_to_change(target, wish, obstacle);
		break;
	case OWNER_FOREIGN:
		return find_obstacle_to_replace(target, wish, obstacle);
	}
	return true;
}

bool target_allowed(const struct target *target, const struct wish *wish)
{
	struct obstacle obstacle;

	return wish_fits(wish, target_aqm(target, wish)) &&
	       find_obstacle(target, wish, &obstacle) && obstacle_absent(&obstacle, target->label);
}

bool target_check(const struct target *target, const struct wish *wish)
{
	const struct aqm *now = tree_aqm(&target->tree), *wanted = target_aqm(target, wish);
	const char *const under = tree_is_mq(&target->tree) ? " under mq" : "";
	struct obstacle obstacle;

	if (!find_obstacle(target, wish, &obstacle))
		return false;
	if (obstacle.text[0])
		return report_line(REPORT_MISSING, "%s: %s", target->label, obstacle.text);
	switch (tree_owner(&target->tree)) {
	case OWNER_US:
		if (now == wanted)
			return report_line(REPORT_OK, "its root qdisc is %s%s already", now->kind,
					   under);
		return report_line(REPORT_OK, "%s%s will take the place of %s", wanted->kind, under,
				   now->kind);
	case OWNER_FOREIGN:
		return report_line(REPORT_OK, "its root qdisc, %s, can be put back",
				   target->tree.root.kind);
	case OWNER_NONE:
		break;
	}
	return report_line(REPORT_OK, "its root qdisc is the kernel's automatic one");
}

/* ---- is there room? -------------------------------------------------------------- */

static void find_obstacle_of_room(const struct registration *reg, size_t needed,
				  struct obstacle *obstacle)
{
	size_t room = registration_room(reg);

	*obstacle = (struct obstacle){};
	if (needed > room)
		obstacle_set(obstacle,
			     "needs %zu qdiscs of the kind, and of the %u that a host can have %zu "
			     "are free: unload some",
			     needed, DUALPI2_MAX_INSTANCES, room);
}

bool target_has_room(const struct registration *reg, const struct target *target, size_t needed)
{
	struct obstacle obstacle;

	find_obstacle_of_room(reg, needed, &obstacle);
	return obstacle_absent(&obstacle, target->label);
}

bool target_check_room(const struct registration *reg, const struct target *target,
		       const struct link *link, const struct wish *wish)
{
	const struct aqm *now = tree_aqm(&target->tree);
	size_t needed = wish->mq || (now && tree_is_mq(&target->tree)) ? link->tx_queues : 1;
	struct obstacle obstacle;

	if (now == reg->aqm)
		needed = tree_missing_queues(&target->tree, now);
	find_obstacle_of_room(reg, needed, &obstacle);
	return !obstacle.text[0] ||
	       report_line(REPORT_MISSING, "%s: %s", target->label, obstacle.text);
}

/* ---- forget ------------------------------------------------------------------------ */

void target_forget(const struct registrations *regs, const struct dualpi2_key *key)
{
	confs_forget(regs, key);
	root_forget(key);
}

static void sweep_one(const struct dualpi2_key *key, void *data)
{
	const struct registrations *regs = data;

	if (interface_is_gone(regs, key, TCX_EGRESS) <= 0)
		return;
	verbose("interface %u of namespace %llu is gone", key->ifindex, key->netns);
	target_forget(regs, key);
	setting_forget(key);
	tcx_detach(key, TCX_EGRESS);
}

void targets_sweep(const struct registrations *regs)
{
	tcx_each(sweep_one, (void *)regs);
}
