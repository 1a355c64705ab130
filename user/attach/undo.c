// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/undo.h"

#include <string.h>

#include "attach/gso.h"
#include "attach/place.h"
#include "cli/message.h"
#include "pinned/ledger.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"

void root_forget(const struct registrations *regs, const struct dualpi2_key *key)
{
	confs_forget(regs, key);
	ledger_erase(LEDGER_PRIORS, key);
}

bool root_undo(const struct registrations *regs, const char *ifname, struct outcome *outcome)
{
	struct qdisc prior = {};
	TARGET target;
	int had_tcx;
	bool ours;

	if (!target_find(ifname, &target))
		return false;
	ours = tree_owner(&target.tree) == OWNER_US;
	if (ours &&
	    (ledger_read(LEDGER_PRIORS, &target.key, &prior) < 0 ||
	     !place_former(&target, &prior) || !tree_read(target.key.ifindex, &target.tree)))
		return false;
	if (ours && tree_owner(&target.tree) == OWNER_US)
		return fail(0,
			    "%s: the kernel attached %s again, as its default: first "
			    "`sysctl net.core.default_qdisc=fq_codel`",
			    target.label, tree_aqm(&target.tree)->kind);
	/* Where that could not be tried before (qdisc_comes_back()) a difference is seen now. */
	if (prior.kind[0] && !qdisc_is_same(&prior, &target.tree.root))
		memcpy(outcome->incomplete, prior.kind, sizeof(outcome->incomplete));
	had_tcx = tcx_detach(&target.key, TCX_EGRESS);
	if (had_tcx < 0 || !gso_stop(&target))
		return false;
	root_forget(regs, &target.key);
	if (ours || had_tcx)
		outcome->kind = OUTCOME_UNLOADED;
	return true;
}

/* ---- sweep ----------------------------------------------------------------------- */

/* Is there an interface of this number with a qdisc of ours? Then it is the one that was attached,
 * for a qdisc ends with its interface, and somebody has detached our link from it. Also true where
 * that could not be read, which is reported.
 */
static bool is_still_ours(const struct dualpi2_key *key)
{
	struct tree tree = {};
	struct link link;
	int found = target_look(key, &link);
	bool ours;

	if (found <= 0)
		return found;
	if (!tree_read((int)key->ifindex, &tree))
		return true;
	ours = tree_owner(&tree) == OWNER_US;
	tree_free(&tree);
	return ours;
}

static void sweep_one(const struct registrations *regs, const struct dualpi2_key *key)
{
	if (interface_is_gone(regs, key, TCX_EGRESS) <= 0 || is_still_ours(key))
		return;
	verbose("interface %u of namespace %llu is gone", key->ifindex, key->netns);
	root_forget(regs, key);
	ledger_erase(LEDGER_SETTINGS, key);
	tcx_detach(key, TCX_EGRESS);
}

void root_sweep(const struct registrations *regs)
{
	tcx_each(regs, sweep_one);
}
