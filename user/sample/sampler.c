// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sampler.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/link.h"
#include "pinned/pins.h"
#include "sample/collect.h"

#define SAMPLER_PRIVATE_TEXT "only the owner of " PIN_DIR " may read them"

static bool open_pins(struct sampler *sampler)
{
	if (!pins_are_hidden())
		return registrations_open(&sampler->regs);
	if (!registrations_open_public(&sampler->regs))
		return false;
	if (!registrations_found(&sampler->regs))
		sampler->hidden = SAMPLER_PRIVATE_TEXT;
	return true;
}

/* The registrations, or what we may read of them; that there is none is no failure. */
static bool open_registrations(struct sampler *sampler)
{
	int found = pins_find_bpffs();
	bool opened = true;

	sampler->hidden = NULL;
	if (found > 0)
		opened = open_pins(sampler);
	else if (found)
		sampler->hidden = message_shortage(-found) ?: BPFFS_HIDDEN_TEXT;
	pins_keep_privilege(0);
	return opened;
}

bool sampler_open(struct sampler *sampler, const char *ifname)
{
	unsigned int ifindex;

	*sampler = (struct sampler){ .ifname = ifname };
	if (ifname && !link_index(ifname, &ifindex))
		return false;
	return open_registrations(sampler);
}

void sampler_close(struct sampler *sampler)
{
	registrations_close(&sampler->regs);
}

/* An interface that was deleted and made again has another number: 1; 0: it was not made again;
 * -errno, which is reported: unknown. The number 0 is for all interfaces.
 */
static int find_interface(const struct sampler *sampler, unsigned int *ifindex)
{
	struct link link = {};
	int found = sampler->ifname ? link_look_for(sampler->ifname, &link) : 1;

	*ifindex = link.ifindex;
	return found;
}

static bool collect(struct sampler *sampler, struct samples *list)
{
	unsigned int ifindex;
	int found;

	*list = (struct samples){};
	if (!registrations_found(&sampler->regs))
		return true;
	found = find_interface(sampler, &ifindex);
	return found > 0 ? samples_collect(&sampler->regs, ifindex, list) : !found;
}

/* Does the kernel show a qdisc of ours, whatever we may see of its statistics? As
 * samples_look_for_kind().
 */
static int look_for_kind(const struct sampler *sampler, const struct aqm **aqm)
{
	unsigned int ifindex;
	int found = find_interface(sampler, &ifindex);

	return found > 0 ? samples_look_for_kind(ifindex, aqm) : found;
}

static const char *where(const struct sampler *sampler)
{
	return sampler->ifname ? sampler->ifname : "this network namespace";
}

/* That statistics cannot be seen is not that there are none. */
static bool nothing_is_hidden(const struct sampler *sampler)
{
	const struct aqm *aqm;
	int lives = sampler->hidden ? look_for_kind(sampler, &aqm) : 0;

	if (lives > 0)
		fail(0, "%s: %s is attached, but its statistics cannot be seen: %s: run it %s",
		     where(sampler), aqm->kind, sampler->hidden, privilege_as_root());
	return !lives;
}

bool sampler_take(struct sampler *sampler, struct samples *list)
{
	if (!collect(sampler, list))
		return false;
	if (list->count)
		return true;
	/* The maps may be those of a registration that is gone, and there is a new one. */
	free(list->items);
	sampler_close(sampler);
	return open_registrations(sampler) && nothing_is_hidden(sampler) && collect(sampler, list);
}

bool sampler_has_nothing(const struct sampler *sampler)
{
	const char *which = sampler->ifname ? sampler->ifname : "IFACE";
	const struct aqm *aqm;
	int lives = nothing_is_hidden(sampler) ? look_for_kind(sampler, &aqm) : -EACCES;

	if (lives < 0)
		return false;
	if (lives)
		return fail(0,
			    "%s: %s is attached, but its pins are gone: no statistics, no marks, "
			    "until `dualpi2-load %s`",
			    where(sampler), aqm->kind, which);
	return fail(0, "%s: no %s qdisc: `dualpi2-load %s` attaches one", where(sampler),
		    aqm_default()->kind, which);
}
