// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach/root.h"
#include "cli/message.h"
#include "interface/device.h"
#include "interface/feeder.h"

static void add(const struct link *link, void *data)
{
	struct all *all = data;
	struct one *more = reallocarray(all->of, all->count + 1, sizeof(*more));

	if (!more) {
		fail(ENOMEM, "the interfaces");
		return;
	}
	all->of = more;
	all->of[all->count++] = (struct one){ .link = *link };
}

bool all_read(struct all *all)
{
	*all = (struct all){};
	if (!link_each(NULL, add, all) || message_reported())
		return false;
	for (size_t i = 0; i < all->count; i++) {
		if (!tcx_look_for_ours(all->of[i].link.name, &all->of[i].tcx))
			return false;
	}
	return true;
}

void all_free(struct all *all)
{
	free(all->of);
}

/* Is it there, and none that we made? 1, 0 or -errno. */
static int is_others(const struct link *link)
{
	struct link now;
	int found = link_look(link->ifindex, &now), own = found > 0 ? device_look(link) : found;

	return found > 0 && own >= 0 ? !own : own;
}

int one_has_ours(const struct one *one)
{
	const char *const ifname = one->link.name;
	int others = is_others(&one->link);
	struct feeder feeder;
	TARGET target = {};

	if (others <= 0 || one->tcx.count)
		return others;
	if (!target_find(ifname, &target) || !feeder_find(ifname, &feeder))
		return -EIO;
	return tree_owner(&target.tree) == OWNER_US || feeder.ifb.ifindex;
}

static bool tell_target(const struct registrations *regs, const struct target *target,
			outcome_tell *tell, size_t *count)
{
	struct outcome outcome = {
		.aqm = tree_aqm(&target->tree),
		.is_mq = tree_has_ours_below_mq(&target->tree),
	};
	int live;

	if (!outcome.aqm)
		return true;
	live = root_live(regs, target, &outcome.params);
	if (live < 0)
		return false;
	outcome.kind = live ? OUTCOME_LIVE : OUTCOME_HIDDEN;
	snprintf(outcome.label, sizeof(outcome.label), "%s", target->label);
	tell(&outcome);
	++*count;
	return true;
}

static bool tell_root(const struct registrations *regs, const char *ifname, outcome_tell *tell,
		      size_t *count)
{
	TARGET target;

	return target_find(ifname, &target) && tell_target(regs, &target, tell, count);
}

static bool tell_ingress(const struct registrations *regs, const char *ifname, outcome_tell *tell,
			 size_t *count)
{
	struct feeder feeder;
	TARGET target = {};

	if (!feeder_find(ifname, &feeder))
		return false;
	return !feeder.aqm ||
	       (target_find_ifb(&feeder, &target) && tell_target(regs, &target, tell, count));
}

bool one_tell(const struct registrations *regs, const struct one *one, outcome_tell *tell,
	      size_t *count)
{
	int others = is_others(&one->link);

	if (others <= 0)
		return !others;
	return tell_root(regs, one->link.name, tell, count) &&
	       tell_ingress(regs, one->link.name, tell, count);
}
