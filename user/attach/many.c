// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/many.h"

#include "attach/subscribers.h"

bool many_make(const struct registration *reg, const struct dualpi2_params *params,
	       struct subscribers *subscribers, struct many_maps *maps)
{
	return host_maps_make(reg, params->hosts, &maps->hosts) &&
	       subscribers_make(reg, subscribers, params, &maps->subscribers);
}

bool many_put(const struct registration *reg, const struct dualpi2_key *key,
	      const struct many_maps *maps)
{
	return host_maps_put(reg, key, &maps->hosts, false) &&
	       subscribers_put(reg, key, &maps->subscribers);
}

void many_close(struct many_maps *maps)
{
	host_maps_close(&maps->hosts);
	subscriber_maps_close(&maps->subscribers);
}
