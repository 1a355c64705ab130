// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sampler.h"

#include <stdlib.h>

#include "link.h"
#include "message.h"
#include "pins.h"
#include "privilege.h"

/* The registration, or what we may read of it; that there is none is no failure. */
static bool open_registration(struct sampler *sampler)
{
	bool opened = true;

	sampler->is_open = false;
	if (pins_have_bpffs())
		opened = pins_are_hidden()
				 ? registration_open_public(&sampler->reg, &sampler->is_open)
				 : registration_open(&sampler->reg, &sampler->is_open);
	privilege_keep(0);
	return opened;
}

bool sampler_open(struct sampler *sampler, const char *ifname)
{
	unsigned int ifindex;

	*sampler = (struct sampler){ .ifname = ifname };
	if (ifname && !interface_index(ifname, &ifindex))
		return false;
	return open_registration(sampler);
}

void sampler_close(struct sampler *sampler)
{
	if (sampler->is_open)
		registration_close(&sampler->reg);
	sampler->is_open = false;
}

/* An interface that was deleted and made again has another number. */
static bool find_interface(const struct sampler *sampler, unsigned int *ifindex)
{
	struct link link;

	*ifindex = 0;
	if (!sampler->ifname)
		return true;
	if (!link_find(sampler->ifname, &link))
		return false;
	*ifindex = link.ifindex;
	return true;
}

static bool collect(struct sampler *sampler, struct figures_list *list)
{
	unsigned int ifindex;

	*list = (struct figures_list){};
	if (!sampler->is_open || !find_interface(sampler, &ifindex))
		return true;
	return figures_collect(&sampler->reg, ifindex, list);
}

bool sampler_take(struct sampler *sampler, struct figures_list *list)
{
	if (!collect(sampler, list))
		return false;
	if (list->count)
		return true;
	/* The maps may be those of a registration that is gone, and there is a new one. */
	free(list->items);
	sampler_close(sampler);
	return open_registration(sampler) && collect(sampler, list);
}

bool sampler_has_nothing(const struct sampler *sampler)
{
	const char *where = sampler->ifname ? sampler->ifname : "this network namespace";
	const char *which = sampler->ifname ? sampler->ifname : "IFACE";
	unsigned int ifindex;

	if (find_interface(sampler, &ifindex) && figures_kind_lives(ifindex))
		return fail(0,
			    "%s: " DUALPI2_KIND " is attached, but its pins are gone: no "
			    "statistics, no marks, until `dualpi2-load %s`",
			    where, which);
	return fail(0, "%s: no " DUALPI2_KIND " qdisc: `dualpi2-load %s` attaches one", where,
		    which);
}
