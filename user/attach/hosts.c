// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/hosts.h"

#include "cli/message.h"
#include "pinned/host_maps.h"

/* Those below an mq, made by hand, do without. */
int hosts_work(const struct registration *reg, const struct target *target)
{
	return tree_is_mq(&target->tree) ? 1 : host_maps_look(reg, &target->key);
}

bool hosts_repair(const struct registration *reg, const struct target *target,
		  const struct dualpi2_params *in_force)
{
	struct host_maps maps;
	const bool done = host_maps_make(reg, in_force->hosts, &maps) &&
			  host_maps_put(reg, &target->key, &maps, true);

	host_maps_close(&maps);
	return done;
}

/* Packets wait in the queues that there are. */
bool hosts_may_change(const struct target *target, const struct aqm *aqm, __u32 hosts,
		      const struct dualpi2_params *wanted)
{
	return aqm->variant != AQM_HOSTS || wanted->hosts == hosts ||
	       fail_usage(
		       "%s: --hosts %u: it has %u as long as it is attached: first " TARGET_UNLOAD,
		       target->label, wanted->hosts, hosts, TARGET_OPTIONS_OF(target));
}
