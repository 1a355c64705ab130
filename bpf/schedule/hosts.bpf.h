/* SPDX-License-Identifier: GPL-2.0-only */
/* A qdisc with a DualQ for each host: hosts.h says which host has which. A packet without an IP
 * header is of none.
 */
#ifndef SCHEDULE_HOSTS_BPF_H
#define SCHEDULE_HOSTS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "hosts.h"
#include "schedule/many.bpf.h"
#include "turns.h"

#define SCHEDULE_KIND AQM_HOSTS_KIND
#define SCHEDULE_TURNS_H "schedule/hosts_turns.bpf.h"

struct schedule {
	struct turns turns;
	struct many many;
	struct hosts_law law;
	u32 sets;	    /* of HOSTS_WAYS hosts; 0: there is one DualQ for all */
	u64 claims;	    /* DualQs that were given to a host */
	u64 shared_packets; /* of hosts that had none of their own */
};

struct in_schedule {
	struct in_many many;
};

/* By home - 1. */
struct dualpi2_dualqs_of {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, HOSTS_WAYS);
	__type(key, u32);
	__type(value, struct dualq);
};

BY_QDISC(dualpi2_host_dualqs, struct dualpi2_dualqs_of);

/* Which host has which, by set. */
struct dualpi2_sets_of {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hosts_set);
};

BY_QDISC(dualpi2_host_sets, struct dualpi2_sets_of);

#endif /* SCHEDULE_HOSTS_BPF_H */
