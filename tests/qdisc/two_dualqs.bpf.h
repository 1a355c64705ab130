/* SPDX-License-Identifier: GPL-2.0-only */
/* For a test: a qdisc with two DualQs, served in turn, of which each has its statistics. A packet
 * whose mark (SO_MARK of socket(7)) is odd belongs to the second, which is updated at its packets.
 */
#ifndef TWO_DUALQS_BPF_H
#define TWO_DUALQS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "schedule.bpf.h"

#define SCHEDULE_KIND LINK_KIND
#define SEVERAL 1
#define SHOWN 2
#define SCHEDULE_TURNS_H "two_dualqs_turns.bpf.h"

struct schedule {
	u8 turn;  /* of the second */
	u8 asked; /* how often somebody asked whose turn it is */
};

struct in_schedule {
	struct dualpi2_counters l_counters, c_counters;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct dualq);
} dualpi2_dualqs SEC(".maps");

#endif /* TWO_DUALQS_BPF_H */
