// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching goes in steps, each of which is undone if a later one fails:
 *
 *	dualpi2_prior	remember the root qdisc that has to go (--replace)
 *	dualpi2_conf	parameters, for the qdiscs to start with
 *	tcx		the program that classifies and marks, pinned (tcx.h)
 *	gso		what splits GSO packets (gso.h)
 *	qdisc		last: from here on packets go through it. With --mq the mq,
 *			then a qdisc for each queue
 */
#include "attach/root.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "attach/gso.h"
#include "cli/message.h"
#include "kernel/qdisc.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

static bool read_tree_again(struct target *target)
{
	tree_free(&target->tree);
	return tree_read(target->key.ifindex, &target->tree);
}

/* ---- the qdiscs of ours on an interface ---------------------------------------- */

/* Where one may be: the root, or the queues of an mq. */
static size_t n_places(const struct target *target)
{
	return tree_is_mq(&target->tree) ? target->tree.n_queues : 1;
}

/* The key of the one that is in a place; false if none is. */
static bool key_at(const struct target *target, size_t place, struct dualpi2_key *key)
{
	const struct tree_queue *queue = target->tree.queues + place;

	*key = target->key;
	if (!tree_is_mq(&target->tree))
		return tree_owner(&target->tree) == OWNER_US;
	key->parent = queue->parent;
	return queue_owner(queue) == OWNER_US;
}

/* Are there some, and do the maps know them all? If not, the registration that they are of has been
 * deleted by hand. They take no more changes, so new ones must take their place. 1, 0, or -errno,
 * which is reported: unknown.
 */
static int look_for_live(const struct registration *reg, const struct target *target,
			 struct dualpi2_params *in_force)
{
	struct dualpi2_stats stats;
	struct dualpi2_key key;
	int live = 0;

	for (size_t place = 0; place < n_places(target); place++) {
		if (!key_at(target, place, &key))
			continue;
		live = stats_read(reg, &key, &stats);
		if (live < 0)
			fail(-live, "%s: cannot look at its qdisc: %s; run it again", target->label,
			     strerror(-live));
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
		if (key_at(target, place, &key) && !params_change(reg, &key, params))
			return false;
	}
	return true;
}

/* ---- the queues of an mq --------------------------------------------------------- */

/* Give each queue in use that has none of ours one. */
static bool complete_queues(const struct registration *reg, const struct target *target)
{
	struct qdisc qdisc = { .kind = DUALPI2_KIND };

	if (!target_has_room(reg, target, tree_missing_queues(&target->tree)))
		return false;
	for (size_t i = 0; i < target->tree.n_queues; i++) {
		qdisc.parent = target->tree.queues[i].parent;
		if (queue_is_missing(&target->tree.queues[i]) &&
		    !qdisc_create(target->key.ifindex, &qdisc, true))
			return false;
	}
	return true;
}

/* ---- attach ---------------------------------------------------------------------- */

/* Take our qdisc from the root: the remembered one takes its place, or the kernel's
 * automatic one.
 */
static bool remove_root(const struct registration *reg, const struct target *target)
{
	static const struct qdisc placeholder = { .kind = "pfifo", .parent = TC_H_ROOT };
	int ifindex = target->key.ifindex;
	struct qdisc prior;
	int remembered = prior_read(reg, &target->key, &prior);

	if (remembered < 0)
		return false;
	/* An automatic qdisc, of net.core.default_qdisc, cannot be deleted, only
	 * replaced. Then the kernel chooses anew.
	 */
	if (!TC_H_MAJ(target->tree.root.handle) && !qdisc_create(ifindex, &placeholder, true))
		return false;
	return remembered ? qdisc_create(ifindex, &prior, true) : qdisc_delete(ifindex);
}

static bool create_root(const struct target *target, const char *kind, bool replace)
{
	/* From the range that the kernel itself takes handles from. */
	const __u32 first_handle = 0x8001U << 16, second_handle = 0x8002U << 16;
	const struct qdisc *now = &target->tree.root;
	struct qdisc qdisc = { .parent = TC_H_ROOT };

	snprintf(qdisc.kind, sizeof(qdisc.kind), "%s", kind);
	/* The same kind under the same handle, or without a handle, would be a change,
	 * which neither BPF qdiscs nor mq have.
	 */
	if (TC_H_MAJ(now->handle))
		qdisc.handle = now->handle == first_handle ? second_handle : first_handle;
	return qdisc_create(target->key.ifindex, &qdisc, replace);
}

static bool create_mq(const struct registration *reg, struct target *target, bool replace)
{
	if (!create_root(target, MQ_KIND, replace))
		return false;
	if (read_tree_again(target) && complete_queues(reg, target))
		return true;
	remove_root(reg, target);
	return false;
}

static bool create_qdiscs(const struct registration *reg, struct target *target,
			  const struct wish *wish)
{
	bool ours = tree_owner(&target->tree) == OWNER_US; /* but dead: see look_for_live() */
	bool replace = wish->replace || ours;

	if (wish->mq || (ours && tree_is_mq(&target->tree)))
		return create_mq(reg, target, replace);
	return target_has_room(reg, target, 1) && create_root(target, DUALPI2_KIND, replace);
}

/* attach_new() undoes them if this returns false. */
static bool attach_steps(const struct registration *reg, struct target *target,
			 const struct wish *wish, const struct dualpi2_params *wanted)
{
	if (tree_owner(&target->tree) == OWNER_FOREIGN &&
	    !prior_write(reg, &target->key, &target->tree.root))
		return false;
	return conf_write(reg, &target->key, wanted) && tcx_attach(reg, &target->key, TCX_EGRESS) &&
	       (!wanted->split_gso || gso_start(reg, target)) && create_qdiscs(reg, target, wish);
}

static void print_attached(const struct target *target, const struct wish *wish,
			   const struct dualpi2_params *params)
{
	char text[512], queues[48] = "";

	if (tree_is_mq(&target->tree))
		snprintf(queues, sizeof(queues), " to each transmit queue (mq)");
	printf("%s: " DUALPI2_KIND " attached%s%s\n", target->label, queues,
	       params_describe(wish->params, true, wish->aqm, params, text, sizeof(text)));
}

static bool attach_new(const struct registration *reg, struct target *target,
		       const struct wish *wish)
{
	struct dualpi2_params wanted = params_default(wish->aqm);

	if (!wish_apply(wish, &wanted))
		return false;
	/* What is left from an earlier time with us on this interface. */
	gso_stop(reg, target);
	instance_forget(reg, &target->key);
	if (!attach_steps(reg, target, wish, &wanted)) {
		gso_stop(reg, target);
		tcx_detach(&target->key, TCX_EGRESS);
		instance_forget(reg, &target->key);
		return false;
	}
	print_attached(target, wish, &wanted);
	gso_remark(reg, target);
	return true;
}

/* ---- change ---------------------------------------------------------------------- */

/* What was found missing. */
struct repairs {
	bool tcx;
	bool gso;
	size_t queues;
};

static const char *repairs_text(const struct repairs *repairs, char *text, size_t size)
{
	int used =
		snprintf(text, size, "%s", repairs->tcx ? "its tcx program is attached again" : "");

	if (repairs->gso)
		used += snprintf(text + used, size - used, "%sGSO packets are split again",
				 used ? ", " : "");
	if (repairs->queues)
		snprintf(text + used, size - used, "%s%zu of its queues have it again",
			 used ? ", " : "", repairs->queues);
	return text;
}

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
			 const struct dualpi2_params *wanted)
{
	if (repairs->tcx && !tcx_attach(reg, &target->key, TCX_EGRESS))
		return false;
	if (wanted->split_gso && !gso_start(reg, target))
		return false;
	if (repairs->queues && (!conf_write(reg, &target->key, in_force) ||
				!complete_queues(reg, target) || !read_tree_again(target)))
		return false;
	if (!change_params(reg, target, in_force, wanted))
		return false;
	if (wanted->split_gso || gso_stop(reg, target))
		return true;
	change_params(reg, target, wanted, in_force);
	return false;
}

static void print_changed(const struct target *target, const struct wish *wish,
			  const struct dualpi2_params *in_force,
			  const struct dualpi2_params *wanted, const struct repairs *repairs)
{
	bool changed = wish->whole ? memcmp(in_force, wanted, sizeof(*wanted))
				   : params_given(wish->params);
	char params[512], repaired[128];

	repairs_text(repairs, repaired, sizeof(repaired));
	if (changed)
		printf("%s: " DUALPI2_KIND " changed%s%s%s%s\n", target->label,
		       params_describe(wish->params, false, wish->aqm, wanted, params,
				       sizeof(params)),
		       wish->whole ? ", all else default" : "", repaired[0] ? "; " : "", repaired);
	else if (repaired[0])
		printf("%s: " DUALPI2_KIND " repaired: %s\n", target->label, repaired);
	else
		printf("%s: " DUALPI2_KIND " is attached already, nothing changed\n",
		       target->label);
}

static bool change_live(const struct registration *reg, struct target *target,
			const struct wish *wish, const struct dualpi2_params *in_force)
{
	struct dualpi2_params wanted = *in_force;
	struct repairs repairs;
	int attached;

	if (!wish_apply(wish, &wanted))
		return false;
	attached = tcx_look(reg, &target->key, TCX_EGRESS);
	if (attached < 0)
		return false;
	repairs = (struct repairs){
		.tcx = !attached,
		.gso = in_force->split_gso && wanted.split_gso && !gso_works(reg, target),
		.queues = tree_missing_queues(&target->tree),
	};
	if (!change_steps(reg, target, &repairs, in_force, &wanted)) {
		if (repairs.tcx)
			tcx_detach(&target->key, TCX_EGRESS);
		if (!in_force->split_gso)
			gso_stop(reg, target);
		return false;
	}
	print_changed(target, wish, in_force, &wanted, &repairs);
	if (!in_force->split_gso)
		gso_remark(reg, target);
	return true;
}

bool root_attach(const struct registration *reg, struct target *target, const struct wish *wish)
{
	struct dualpi2_params in_force;
	int live = look_for_live(reg, target, &in_force);

	if (live < 0)
		return false;
	return live ? change_live(reg, target, wish, &in_force) : attach_new(reg, target, wish);
}

/* ---- unload ---------------------------------------------------------------------- */

bool root_undo(const struct registration *reg, struct target *target, bool *found)
{
	bool ours = tree_owner(&target->tree) == OWNER_US;
	int had_tcx;

	if (ours && (!remove_root(reg, target) || !read_tree_again(target)))
		return false;
	if (ours && tree_owner(&target->tree) == OWNER_US)
		return fail(0,
			    "%s: the kernel attached " DUALPI2_KIND " again, as its default: first "
			    "`sysctl net.core.default_qdisc=fq_codel`",
			    target->label);
	had_tcx = tcx_detach(&target->key, TCX_EGRESS);
	if (had_tcx < 0 || !gso_stop(reg, target))
		return false;
	instance_forget(reg, &target->key);
	*found = ours || had_tcx;
	return true;
}
