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
	bool opened;

	if (!pins_are_hidden())
		return registration_open(&sampler->reg, &sampler->is_open);
	opened = registration_open_public(&sampler->reg, &sampler->is_open);
	if (opened && !sampler->is_open)
		sampler->hidden = SAMPLER_PRIVATE_TEXT;
	return opened;
}

/* The registration, or what we may read of it; that there is none is no failure. */
static bool open_registration(struct sampler *sampler)
{
	bool opened = true;

	sampler->is_open = false;
	sampler->hidden = NULL;
	switch (pins_find_bpffs()) {
	case BPFFS_FOUND:
		opened = open_pins(sampler);
		break;
	case BPFFS_HIDDEN:
		sampler->hidden = message_shortage(errno) ?: BPFFS_HIDDEN_TEXT;
		break;
	case BPFFS_NONE:
		break;
	}
	pins_keep_privilege(0);
	return opened;
}

bool sampler_open(struct sampler *sampler, const char *ifname)
{
	unsigned int ifindex;

	*sampler = (struct sampler){ .ifname = ifname };
	if (ifname && !link_index(ifname, &ifindex))
		return false;
	return open_registration(sampler);
}

void sampler_close(struct sampler *sampler)
{
	if (sampler->is_open)
		registration_close(&sampler->reg);
	sampler->is_open = false;
}

/* An interface that was deleted and made again has another number; `gone`: it was not made again.
 * The number 0 is for all interfaces.
 */
static bool find_interface(const struct sampler *sampler, unsigned int *ifindex, bool *gone)
{
	struct link link = {};

	*gone = false;
	*ifindex = 0;
	if (!sampler->ifname)
		return true;
	if (!link_look_for(sampler->ifname, &link))
		return false;
	*gone = !link.ifindex;
	*ifindex = link.ifindex;
	return true;
}

static bool collect(struct sampler *sampler, struct samples *list)
{
	unsigned int ifindex;
	bool gone;

	*list = (struct samples){};
	if (!sampler->is_open)
		return true;
	return find_interface(sampler, &ifindex, &gone) &&
	       (gone || samples_collect(&sampler->reg, ifindex, list));
}

/* Does the kernel show a qdisc of the kind, whatever we may see of its statistics? */
static bool look_for_kind(const struct sampler *sampler, bool *lives)
{
	unsigned int ifindex;
	bool gone;

	*lives = false;
	return find_interface(sampler, &ifindex, &gone) &&
	       (gone || samples_look_for_kind(ifindex, lives));
}

static const char *where(const struct sampler *sampler)
{
	return sampler->ifname ? sampler->ifname : "this network namespace";
}

/* That statistics cannot be seen is not that there are none. */
static bool nothing_is_hidden(const struct sampler *sampler)
{
	bool lives;

	if (!sampler->hidden)
		return true;
	if (!look_for_kind(sampler, &lives))
		return false;
	return !lives || fail(0,
			      "%s: " DUALPI2_KIND " is attached, but its statistics cannot be "
			      "seen: %s: run it %s",
			      where(sampler), sampler->hidden, privilege_as_root());
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
	return open_registration(sampler) && nothing_is_hidden(sampler) && collect(sampler, list);
}

bool sampler_has_nothing(const struct sampler *sampler)
{
	const char *which = sampler->ifname ? sampler->ifname : "IFACE";
	bool lives;

	if (!nothing_is_hidden(sampler) || !look_for_kind(sampler, &lives))
		return false;
	if (lives)
		return fail(0,
			    "%s: " DUALPI2_KIND " is attached, but its pins are gone: no "
			    "statistics, no marks, until `dualpi2-load %s`",
			    where(sampler), which);
	return fail(0, "%s: no " DUALPI2_KIND " qdisc: `dualpi2-load %s` attaches one",
		    where(sampler), which);
}
