// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/host_maps.h"

#include "cli/message.h"
#include "hosts.h"
#include "kernel/inner_map.h"
#include "pinned/by_qdisc.h"
#include "pinned/ledger.h"

static const struct by_qdisc by_host = {
	.variant = AQM_HOSTS,
	.first = offsetof(struct registration, host_sets),
	.whose = "hosts",
	.option = "--per-host",
	.fewer = "give fewer with --hosts",
};

bool host_maps_make(const struct registration *reg, __u32 hosts, struct host_maps *maps)
{
	const struct inner_value set = { .types = -1, .size = sizeof(struct hosts_set) };

	*maps = (struct host_maps){ -1, -1 };
	if (reg->aqm->variant != AQM_HOSTS)
		return true;
	maps->sets = inner_map_make("dualpi2_sets", &set, hosts / HOSTS_WAYS);
	if (maps->sets < 0)
		return by_qdisc_refuse(&by_host, maps->sets, hosts,
				       (__u64)hosts / HOSTS_WAYS * set.size);
	maps->dualqs = by_qdisc_make_dualqs(&by_host, reg, "dualpi2_dualqs", hosts);
	return maps->dualqs >= 0;
}

void host_maps_close(struct host_maps *maps)
{
	by_qdisc_close(maps->sets);
	by_qdisc_close(maps->dualqs);
}

bool host_maps_put(const struct registration *reg, const struct dualpi2_key *key,
		   const struct host_maps *maps, bool keeps)
{
	__u32 number;
	int error;

	if (reg->aqm->variant != AQM_HOSTS)
		return true;
	error = by_qdisc_number(reg, key, &number);
	if (error <= 0)
		return !error && by_qdisc_gone();
	error = by_qdisc_put(reg->host_sets, number, maps->sets, keeps)
			?: by_qdisc_put(reg->host_dualqs, number, maps->dualqs, keeps);
	return !error || by_qdisc_refuse_place(&by_host, error);
}

int host_maps_look(const struct registration *reg, const struct dualpi2_key *key)
{
	__u32 number;
	int found;

	if (reg->aqm->variant != AQM_HOSTS)
		return 1;
	found = map_read(reg->live, key, &number);
	if (found > 0)
		found = inner_map_look(reg->host_sets, number);
	if (found > 0)
		found = inner_map_look(reg->host_dualqs, number);
	return expect_known(found, "the queues for hosts of %s", reg->aqm->kind);
}

static bool take_away(const struct registration *reg, __u32 number)
{
	return by_qdisc_take_away(&by_host, reg->host_dualqs, number) &&
	       by_qdisc_take_away(&by_host, reg->host_sets, number);
}

void host_maps_sweep(const struct registrations *regs)
{
	by_qdisc_sweep(&by_host, regs, take_away);
}
