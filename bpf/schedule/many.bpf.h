/* SPDX-License-Identifier: GPL-2.0-only */
/* A qdisc with a DualQ for each host: hosts.h says which host has which, turns.h whose turn it is.
 *
 * They are in arrays that dualpi2-load makes for a qdisc once it is there, of the size that it was
 * asked for. Until then, and if there is no memory for them, all packets have the first DualQ, as
 * those have that are of no host.
 */
#ifndef SCHEDULE_MANY_BPF_H
#define SCHEDULE_MANY_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "hosts.h"
#include "schedule.bpf.h"
#include "turns.h"

#define SCHEDULE_KIND AQM_HOSTS_KIND
#define SEVERAL 1
#define SHOWN 1 /* together: nobody walks through thousands */
#define SCHEDULE_TURNS_H "schedule/many_turns.bpf.h"

struct schedule {
	struct turns turns;
	struct hosts_law law;
	u32 sets;			  /* of HOSTS_WAYS hosts; 0: there is one DualQ for all */
	u32 waiting;			  /* DualQs in which packets wait */
	u8 is_lost;			  /* 1: whose turn it is has gone with its DualQ */
	u8 is_by_source;		  /* a host is who sends, not who receives */
	u64 claims;			  /* DualQs that were given to a host */
	u64 shared_packets;		  /* of hosts that had none of their own */
	struct dualpi2_overload overload; /* of any of them */
};

struct in_schedule {
	struct turns_dualq turns;
	u32 bytes_l, bytes_c; /* that wait */
	u32 packets;	      /* that wait in both, skbs */
	u32 memory;	      /* their truesize, bytes */
};

/* The DualQs of a qdisc, by its number; in each of these arrays by home - 1. */
struct dualpi2_dualqs_of {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, HOSTS_WAYS);
	__type(key, u32);
	__type(value, struct dualq);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__array(values, struct dualpi2_dualqs_of);
} dualpi2_host_dualqs SEC(".maps");

/* Which host has which, likewise: by set. */
struct dualpi2_sets_of {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hosts_set);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__array(values, struct dualpi2_sets_of);
} dualpi2_host_sets SEC(".maps");

#endif /* SCHEDULE_MANY_BPF_H */
