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

bool host_side_decide(const struct target *target, struct dualpi2_params *params)
{
	int is_wan;

	if (params->per_host != DUALPI2_HOSTS_AUTO)
		return true;
	is_wan = leads_out(target);
	/* Ours are behind this host as seen from a WAN, and else behind the interface. */
	params->per_host = !is_wan == !target->feeder ? DUALPI2_HOSTS_DST : DUALPI2_HOSTS_SRC;
	return is_wan >= 0;
}

const char *host_side_text(const struct target *target, const struct request *request,
			   const struct dualpi2_params *params)
{
	const bool by_src = params->per_host == DUALPI2_HOSTS_SRC;
	const bool is_wan = by_src == !target->feeder;

	if (request->former ||
	    param_given(request->params, "per-host")->value != DUALPI2_HOSTS_AUTO)
		return NULL;
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
