// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/host_side.h"

#include "cli/message.h"
#include "kernel/route.h"

/* Packets leave an ifb where they would have arrived. */
static int leads_out(const struct target *target)
{
	const struct dualpi2_key *const key = target->feeder ? &target->feeder->key : &target->key;

	return expect_known(route_has_default((int)key->ifindex), "the default routes of %s",
			    target->label);
}

static const char *side_text(bool by_src, bool is_wan)
{
	if (by_src)
		return is_wan ? "per-host auto is src: it has a default route, so hosts are where "
				"packets come from"
			      : "per-host auto is src: it has no default route, so hosts are where "
				"packets come from";
	return is_wan ? "per-host auto is dst: it has a default route, so hosts are where packets "
			"go to"
		      : "per-host auto is dst: it has no default route, so hosts are where packets "
			"go to";
}

bool host_side_decide(const struct target *target, struct dualpi2_params *params, const char **why)
{
	bool by_src;
	int is_wan;

	*why = NULL;
	if (params->per_host != DUALPI2_HOSTS_AUTO)
		return true;
	is_wan = leads_out(target);
	if (is_wan < 0)
		return false;
	/* Ours are behind this host as seen from a WAN, and else behind the interface. */
	by_src = !is_wan != !target->feeder;
	params->per_host = by_src ? DUALPI2_HOSTS_SRC : DUALPI2_HOSTS_DST;
	*why = side_text(by_src, is_wan);
	return true;
}
