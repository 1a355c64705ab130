// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/target.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "check/report.h"
#include "cli/format.h"
#include "cli/message.h"
#include "interface/room.h"
#include "kernel/netns.h"
#include "pinned/pins.h"

bool target_find(const char *ifname, struct target *target)
{
	struct link link;

	*target = (struct target){
		.ifname = ifname,
		.key.parent = TC_H_ROOT,
	};
	snprintf(target->label, sizeof(target->label), "%s", ifname);
	if (!link_named(ifname, &link))
		return false;
	target->key.netns = netns_current();
	target->key.ifindex = link.ifindex;
	return target->key.netns && tree_read(link.ifindex, &target->tree);
}

bool target_find_ifb(const struct feeder *feeder, struct target *target)
{
	const bool found = target_find(feeder->ifb.name, target);

	target->feeder = feeder;
	snprintf(target->label, sizeof(target->label), "%s, ingress (%s)", feeder->ifname,
		 feeder->ifb.name);
	return found;
}

void target_free(struct target *target)
{
	tree_free(&target->tree);
}

const struct aqm *target_aqm(const struct target *target, const struct request *request)
{
	const struct tree *tree = &target->tree;

	return request_aqm(request, tree_aqm(tree), tree_has_ours_below_mq(tree));
}

bool target_will_be_mq(const struct target *target, const struct request *request)
{
	return request->mq || tree_has_ours_below_mq(&target->tree);
}

/* ---- may it be attached? ------------------------------------------------------- */

/* Something is in the way of what is requested. Always false. */
#define obstacle(target, ...) report_obstacle(STATUS_FAILURE, 0, (target)->label, __VA_ARGS__)

bool target_changes_handle(const struct target *target, const struct request *request)
{
	return request->handle && request->handle != target->tree.root.handle;
}

/* Another qdisc takes the place of ours, and what of that cannot be kept goes with it. */
static bool may_take_the_place(const struct target *target, const struct request *request)
{
	const bool mq_stays = tree_is_mq(&target->tree) && !target_changes_handle(target, request);
	const char *lost = tree_lost_part(&target->tree, mq_stays);

	return !lost || obstacle(target,
				 "another qdisc in the place of its %s would lose %s: note it, "
				 "then " TARGET_UNLOAD,
				 tree_aqm(&target->tree)->kind, lost, TARGET_OPTIONS_OF(target));
}

/* Where bpf_dualpi2 is attached already. */
static bool may_change(const struct target *target, const struct request *request)
{
	const struct tree_queue *foreign = tree_foreign_queue(&target->tree);
	char text[QDISC_TEXT_MAX];

	if ((target_aqm(target, request) != tree_aqm(&target->tree) ||
	     target_changes_handle(target, request)) &&
	    !may_take_the_place(target, request))
		return false;
	if (!tree_is_mq(&target->tree))
		return !request->mq ||
		       obstacle(target,
				"%s is attached as one qdisc for all queues: first " TARGET_UNLOAD,
				target->tree.root.kind, TARGET_OPTIONS_OF(target));
	return !foreign || request->replace ||
	       obstacle(target,
			"somebody configured one of its queues, so what it sends bypasses the "
			"AQM and the rate: `%s`; --replace takes its place, for good",
			qdisc_text(foreign->kind, foreign->handle, foreign->parent, text));
}

/* 1; 0: `why` says what would be lost; -errno, which is reported: unknown. */
static int can_be_put_back(const struct target *target, char *why)
{
	int restorable = tree_restorable(&target->tree, why);

	if (restorable <= 0 || qdisc_comes_back(&target->tree.root))
		return restorable;
	snprintf(why, TREE_WHY_MAX, "its options: made again it has others");
	return 0;
}

/* Where somebody configured the root. */
static bool may_replace(const struct target *target, const struct request *request)
{
	const struct qdisc *root = &target->tree.root;
	char text[QDISC_TEXT_MAX], why[TREE_WHY_MAX];
	int restorable = can_be_put_back(target, why);

	if (restorable < 0)
		return false;
	qdisc_text(root->kind, root->handle, TC_H_ROOT, text);
	if (!restorable)
		return obstacle(target,
				"somebody configured its root, and --unload could not put back "
				"`%s` with %s: note it, then `tc qdisc del dev %s root`",
				text, why, target->ifname);
	return request->replace ||
	       obstacle(target, "somebody configured its root: `%s`; --replace takes its place",
			text);
}

/* A qdisc other than the root that has the handle which is requested. */
static bool has_handle(const struct qdisc *qdisc, void *data)
{
	struct qdisc *wanted = data;

	if (qdisc->handle != wanted->handle || qdisc->parent == TC_H_ROOT)
		return false;
	*wanted = *qdisc;
	return true;
}

static bool handle_is_free(const struct target *target, const struct request *request)
{
	struct qdisc other = { .handle = request->handle };
	char text[QDISC_TEXT_MAX];
	int found = 0;

	if (target_changes_handle(target, request))
		found = qdisc_each((int)target->key.ifindex, has_handle, &other);
	if (found > 0)
		return obstacle(target, "--handle %x:: is that of `%s`: take another one",
				TC_H_MAJ(request->handle) >> 16,
				qdisc_text(other.kind, other.handle, other.parent, text));
	return !found;
}

/* What mq_init_common() of net/sched/sch_mq.c asks for. An ifb is made with as many as it takes. */
static bool may_be_mq(const struct target *target)
{
	struct link link;

	if (target->feeder)
		return true;
	return link_expect((int)target->key.ifindex, target->ifname, &link) &&
	       (link.tx_queues > 1 ||
		obstacle(target, "has one transmit queue, and mq is for several: leave out --mq"));
}

/* If not, it is said why (report_obstacle()). */
static bool is_possible(const struct target *target, const struct request *request)
{
	const struct tree *tree = &target->tree;

	if ((request->mq && !may_be_mq(target)) ||
	    !request_has_variant(request, tree_aqm(tree), tree_has_ours_below_mq(tree),
				 target->label) ||
	    !handle_is_free(target, request))
		return false;
	switch (tree_owner(tree)) {
	case OWNER_US:
		return may_change(target, request);
	case OWNER_FOREIGN:
		return may_replace(target, request);
	case OWNER_NONE:
		break;
	}
	return true;
}

bool target_allowed(const struct target *target, const struct request *request)
{
	return request_fits(request, target_aqm(target, request)) && is_possible(target, request);
}

/* Of queues that have something else, or nothing: a load attaches ours to them again. */
static bool check_queues(const struct target *target)
{
	const struct aqm *aqm = tree_aqm(&target->tree);
	const struct tree_queue *queue = tree_missing_queue(&target->tree, aqm);
	char text[QUEUES_TEXT_MAX];

	if (!queue)
		return true;
	return report_line(REPORT_WARNING,
			   "%s: `dualpi2-load " TARGET_OPTIONS "%s` puts that right",
			   format_queues(queue->parent, tree_missing_queues(&target->tree, aqm),
					 queue->kind, aqm->kind, text),
			   TARGET_OPTIONS_OF(target),
			   tree_foreign_queue(&target->tree) ? " --replace" : "");
}

/* Of a root qdisc of ours: what becomes of it. */
static bool check_ours(const struct target *target, const struct request *request)
{
	const struct aqm *now = tree_aqm(&target->tree), *wanted = target_aqm(target, request);
	const char *const under = tree_is_mq(&target->tree) ? " under mq" : "";

	if (now != wanted)
		return report_line(REPORT_OK, "%s%s will take the place of %s", wanted->kind, under,
				   now->kind);
	if (target_changes_handle(target, request))
		return report_line(REPORT_OK, "its root will be %x: in place of %x:",
				   TC_H_MAJ(request->handle) >> 16,
				   TC_H_MAJ(target->tree.root.handle) >> 16);
	return report_line(REPORT_OK, "its root qdisc is %s%s already", now->kind, under) &&
	       check_queues(target);
}

bool target_check(const struct target *target, const struct request *request)
{
	const char *const kind = target->tree.root.kind;

	if (!is_possible(target, request))
		return false;
	switch (tree_owner(&target->tree)) {
	case OWNER_US:
		return check_ours(target, request);
	case OWNER_FOREIGN:
		if (qdisc_comes_back(&target->tree.root) > 0)
			return report_line(REPORT_OK, "its root qdisc, %s, can be put back", kind);
		return report_line(REPORT_HINT,
				   "its root qdisc, %s, can be put back as far as its kind tells: "
				   "to try it takes the right to make a user namespace",
				   kind);
	case OWNER_NONE:
		break;
	}
	return report_line(REPORT_OK, "its root qdisc is the kernel's automatic one");
}

/* ---- is there room? -------------------------------------------------------------- */

bool target_has_room_for_queues(const struct registration *reg, const struct target *target)
{
	const size_t missing = tree_missing_queues(&target->tree, reg->aqm);
	const size_t own = tree_queues_of(&target->tree, reg->aqm);

	return room_for(reg, target->label, own + missing, own);
}

bool target_check_room(const struct registration *reg, const struct target *target,
		       const struct link *link, const struct request *request)
{
	const struct aqm *now = tree_aqm(&target->tree);
	const size_t needed = target_will_be_mq(target, request) ? link->tx_queues : 1;

	if (now == reg->aqm && !target_changes_handle(target, request))
		return target_has_room_for_queues(reg, target);
	return room_for(reg, target->label, needed, tree_queues_of(&target->tree, reg->aqm));
}

int target_look(const struct dualpi2_key *key, struct link *link)
{
	return key->netns == netns_current() ? link_look((int)key->ifindex, link) : 0;
}

bool target_is_known(const struct registrations *regs, const char *ifname,
		     const struct tcx_ours *ours)
{
	const __u32 stray = tcx_stray(regs, ours);
	char remedy[BPFFS_WHY_MAX];

	return !stray || report_obstacle(STATUS_FAILURE, 0, ifname,
					 "our tcx program %u is attached, but its link is not "
					 "pinned in " PIN_DIR " as we see it: %s",
					 stray, registration_remedy(remedy));
}
