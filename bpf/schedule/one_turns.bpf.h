/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDULE_ONE_TURNS_BPF_H
#define SCHEDULE_ONE_TURNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>

#include "dualpi2.h"
#include "instance.bpf.h"
#include "schedule/few.bpf.h"

static __always_inline void schedule_start(struct instance *in, u64 now)
{
}

/* ---- whose a packet is ----------------------------------------------------------- */

static __always_inline u32 schedule_label(struct __sk_buff *ctx, const struct instance *in,
					  bool is_direct)
{
	return 0;
}

static __always_inline struct dualq *schedule_find(struct instance *in, u32 label)
{
	return first_dualq(in);
}

static __always_inline struct dualq *schedule_claim(struct instance *in, u32 label, u64 now,
						    u32 *home)
{
	*home = 0;
	return first_dualq(in);
}

static __always_inline struct dualq *schedule_dualq(struct instance *in, u32 home)
{
	return first_dualq(in);
}

/* ---- turns ----------------------------------------------------------------------- */

static __always_inline struct dualq *schedule_next(struct instance *in, u64 now)
{
	return first_dualq(in);
}

static __always_inline struct dualq *schedule_discards(struct instance *in)
{
	return NULL;
}

static __always_inline bool schedule_waits(struct instance *in)
{
	return false;
}

/* ---- statistics ------------------------------------------------------------------ */

static __always_inline struct dualpi2_counters *counters_of(struct instance *in, struct dualq *q,
							    bool in_l)
{
	return in_l ? &in->l_counters : &in->c_counters;
}

static __always_inline u64 queue_bytes(const struct instance *in, const struct dualq *q, bool in_l)
{
	return dualpi2_backlog_bytes(in_l ? &in->l_counters : &in->c_counters);
}

static __always_inline struct dualq *schedule_shown(struct instance *in, u32 home, u64 now)
{
	return first_dualq(in);
}

#endif /* SCHEDULE_ONE_TURNS_BPF_H */
