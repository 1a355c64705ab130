/* SPDX-License-Identifier: GPL-2.0-only */
/* What schedules with thousands of DualQs have in common: turns.h says whose turn it is, and nobody
 * walks through all of them.
 *
 * They are in arrays that dualpi2-load makes for a qdisc once it is there, of the size that it was
 * asked for. Until then, and if there is no memory for them, all packets have the first DualQ, as
 * those have that are nobody's.
 */
#ifndef SCHEDULE_MANY_BPF_H
#define SCHEDULE_MANY_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "schedule.bpf.h"
#include "turns.h"

#define SEVERAL 1
#define SHOWN 1 /* together */

/* Part of a qdisc. */
struct many {
	u32 waiting;			  /* DualQs in which packets wait */
	u8 is_lost;			  /* 1: whose turn it is has gone with its DualQ */
	u8 is_by_source;		  /* a packet is whose it comes from, not to whom it goes */
	struct dualpi2_overload overload; /* of any of them */
};

/* Part of a DualQ. */
struct in_many {
	struct turns_dualq turns;
	u32 bytes_l, bytes_c; /* that wait */
	u32 packets;	      /* that wait in both, skbs */
	u32 memory;	      /* their truesize, bytes */
};

/* A map that stands in an array of maps, by the number of the qdisc. */
#define BY_QDISC(name, map)                                 \
	struct {                                            \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);   \
		__uint(max_entries, DUALPI2_MAX_INSTANCES); \
		__type(key, u32);                           \
		__array(values, map);                       \
	} name SEC(".maps")

#endif /* SCHEDULE_MANY_BPF_H */
