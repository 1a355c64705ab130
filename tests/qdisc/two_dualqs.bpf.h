/* SPDX-License-Identifier: GPL-2.0-only */
/* For a test: a qdisc with two DualQs, served in turn. A packet whose mark (SO_MARK of socket(7))
 * is odd belongs to the second, which is updated at its packets.
 */
#ifndef TWO_DUALQS_BPF_H
#define TWO_DUALQS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "schedule.bpf.h"

#define DUALQS 2
#define TIMED 1

struct schedule {
	u8 turn; /* of the second */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct dualq);
} dualpi2_dualqs SEC(".maps");

static __always_inline u32 schedule_home(struct __sk_buff *ctx)
{
	return ctx->mark & 1;
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	u32 number = number_of(in);

	return home ? bpf_map_lookup_elem(&dualpi2_dualqs, &number) : first_dualq(in);
}

static __always_inline struct dualq *schedule_next(struct instance *in)
{
	struct dualq *first = first_dualq(in), *second = schedule_dualq(in, 1);
	struct schedule *schedule = schedule_of(in);

	if (!second || !dualq_waits(second))
		return first;
	schedule->turn = !schedule->turn;
	return schedule->turn || !dualq_waits(first) ? second : first;
}

#endif /* TWO_DUALQS_BPF_H */
