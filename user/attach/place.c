// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/place.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "interface/room.h"
#include "kernel/qdisc.h"
#include "pinned/ledger.h"

/* ---- the queues of an mq --------------------------------------------------------- */

bool place_missing(const struct registration *reg, const struct target *target)
{
	struct qdisc qdisc = {};

	snprintf(qdisc.kind, sizeof(qdisc.kind), "%s", reg->aqm->kind);
	if (!target_has_room_for_queues(reg, target))
		return false;
	for (size_t i = 0; i < target->tree.n_queues; i++) {
		qdisc.parent = target->tree.queues[i].parent;
		if (queue_is_missing(&target->tree.queues[i], reg->aqm) &&
		    !qdisc_create(target->key.ifindex, &qdisc, true))
			return false;
	}
	return true;
}

/* ---- the root ---------------------------------------------------------------------- */

/* A qdisc that is to come to the root under the handle that the one there has, or without a handle
 * where that is of its kind: the kernel would change the one there, which neither BPF qdiscs nor mq
 * can, or refuse (tc_modify_qdisc() of net/sched/sch_api.c).
 */
static bool is_in_the_way(const struct qdisc *now, const struct qdisc *wanted)
{
	if (!TC_H_MAJ(now->handle))
		return false; /* an automatic one never is */
	return wanted->handle ? wanted->handle == now->handle : !strcmp(wanted->kind, now->kind);
}

static bool has_handle(const struct qdisc *qdisc, void *handle)
{
	return qdisc->handle == *(__u32 *)handle;
}

/* A handle that no qdisc of the interface has, from the end that the kernel comes to last. */
static bool find_spare_handle(const struct target *target, __u32 *handle)
{
	int taken;

	*handle = (QDISC_MAJOR_MAX + 1U) << 16;
	do {
		*handle -= 1U << 16;
		taken = qdisc_each((int)target->key.ifindex, has_handle, handle);
	} while (taken > 0);
	return !taken;
}

static bool create(int ifindex, const struct qdisc *qdisc, const char *below, bool replace)
{
	return below ? qdisc_create_mq(ifindex, qdisc, below, replace)
		     : qdisc_create(ifindex, qdisc, replace);
}

/* Of what is at the root for a moment. */
static const struct qdisc placeholder = { .kind = "pfifo", .parent = TC_H_ROOT };

/* What is there gives way to a placeholder, which has a spare handle, and that to what is wanted,
 * in one step. If only the placeholder came, what was there comes back.
 */
static bool put_after(const struct qdisc *now, const struct qdisc *wanted, __u32 spare)
{
	struct qdisc step = placeholder, left;

	step.handle = spare;
	if (qdisc_create_after(now->ifindex, &step, wanted))
		return true;
	if (qdisc_root(now->ifindex, &left) && left.handle == spare)
		qdisc_create(now->ifindex, now, true);
	return false;
}

/* `below`: of an mq that will be ours the kind of its queues, else NULL.
 *
 * Where put_after() is not for it, whatever is in the way gives way to `step` under another handle,
 * for the moment. That is what is wanted, if possible: so a run that is killed in between leaves
 * nothing that looks like somebody else's. If this fails what was there stays, but without what is
 * below an mq; where `below` was refused, the mq is there.
 */
static bool put_root(const struct target *target, const struct qdisc *wanted, const char *below,
		     const struct qdisc *step, bool replace)
{
	const struct qdisc *now = &target->tree.root;
	const int ifindex = (int)target->key.ifindex;
	struct qdisc first = *step;

	if (!is_in_the_way(now, wanted))
		return create(ifindex, wanted, below, replace);
	if (!find_spare_handle(target, &first.handle))
		return false;
	if (!below && wanted->handle)
		return put_after(now, wanted, first.handle);
	if (!create(ifindex, &first, below, true))
		return false;
	if (!wanted->handle || create(ifindex, wanted, below, true))
		return true;
	qdisc_create(ifindex, now, true);
	return false;
}

bool place_former(const struct target *target, const struct qdisc *prior)
{
	const int ifindex = (int)target->key.ifindex;

	if (prior->kind[0])
		return put_root(target, prior, NULL, prior, true);
	/* An automatic qdisc, of net.core.default_qdisc, cannot be deleted, only
	 * replaced. Then the kernel chooses anew.
	 */
	if (!TC_H_MAJ(target->tree.root.handle) && !qdisc_create(ifindex, &placeholder, true))
		return false;
	return qdisc_delete(ifindex);
}

struct qdisc place_plan(const struct target *target, const struct request *request)
{
	const struct qdisc *now = &target->tree.root;
	struct qdisc plan = { .parent = TC_H_ROOT };

	if (tree_owner(&target->tree) == OWNER_US) {
		plan.handle = now->handle;
		plan.has_size_table = now->has_size_table;
		plan.size_table = now->size_table;
	}
	if (request->handle)
		plan.handle = request->handle;
	return plan;
}

/* A failed attempt has left something else at the root, or an mq of ours without its queues. */
static bool is_changed(const struct qdisc *before, enum owner owner, const struct tree *now)
{
	return !qdisc_is_same(before, &now->root) || owner != tree_owner(now);
}

static void put_back(struct target *target, const struct qdisc *before, enum owner owner)
{
	struct qdisc prior;

	if ((!tree_read(target->key.ifindex, &target->tree) ||
	     is_changed(before, owner, &target->tree)) &&
	    ledger_read(LEDGER_PRIORS, &target->key, &prior) >= 0)
		place_former(target, &prior);
}

static bool create_mq(const struct registration *reg, struct target *target, struct qdisc *plan,
		      bool replace)
{
	const struct qdisc before = target->tree.root;
	const enum owner owner = tree_owner(&target->tree);
	const size_t own = tree_queues_of(&target->tree, reg->aqm); /* they go with their mq */

	snprintf(plan->kind, sizeof(plan->kind), "%s", MQ_KIND);
	if (!room_for(reg, target->label, 1, own) ||
	    (!plan->handle && !find_spare_handle(target, &plan->handle)))
		return false;
	if (put_root(target, plan, reg->aqm->kind, plan, replace) &&
	    tree_read(target->key.ifindex, &target->tree) && place_missing(reg, target))
		return true;
	put_back(target, &before, owner);
	return false;
}

/* An mq of ours whose queues have another AQM's qdiscs stays, with all that it is. */
static bool mq_stays(const struct registration *reg, const struct target *target,
		     const struct qdisc *plan)
{
	return tree_is_mq(&target->tree) && tree_owner(&target->tree) == OWNER_US &&
	       tree_aqm(&target->tree) != reg->aqm && plan->handle == target->tree.root.handle;
}

static bool create_one(const struct registration *reg, struct target *target, struct qdisc *plan,
		       const struct many_maps *maps, bool replace)
{
	static const struct qdisc other = { .kind = "bfifo", .parent = TC_H_ROOT };
	const bool fits_twice = room_left(reg) > 1;
	const struct qdisc before = target->tree.root;
	const enum owner owner = tree_owner(&target->tree);

	snprintf(plan->kind, sizeof(plan->kind), "%s", reg->aqm->kind);
	if (!room_for(reg, target->label, 1, 0) ||
	    !put_root(target, plan, NULL, fits_twice ? plan : &other, replace))
		return false;
	if (many_put(reg, &target->key, maps))
		return true;
	put_back(target, &before, owner);
	return false;
}

bool place_qdiscs(const struct registration *reg, struct target *target, bool mq,
		  struct qdisc *plan, const struct many_maps *maps, bool replace)
{
	replace |= tree_owner(&target->tree) == OWNER_US;
	if (mq && mq_stays(reg, target, plan))
		return place_missing(reg, target);
	return mq ? create_mq(reg, target, plan, replace)
		  : create_one(reg, target, plan, maps, replace);
}
