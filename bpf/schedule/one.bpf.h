/* SPDX-License-Identifier: GPL-2.0-only */
/* A qdisc with one DualQ: there is nothing to choose. */
#ifndef SCHEDULE_ONE_BPF_H
#define SCHEDULE_ONE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "schedule.bpf.h"

#define DUALQS 1
#define TIMED 1

struct schedule {
};

static __always_inline u32 schedule_home(struct __sk_buff *ctx)
{
	return 0;
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	return first_dualq(in);
}

static __always_inline struct dualq *schedule_next(struct instance *in)
{
	return first_dualq(in);
}

#endif /* SCHEDULE_ONE_BPF_H */
