/* SPDX-License-Identifier: GPL-2.0-only */
/* What a schedule of so few DualQs leaves out that each can be counted apart: accounts of their
 * turns, shares of the limits, and figures of all together.
 */
#ifndef SCHEDULE_FEW_BPF_H
#define SCHEDULE_FEW_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>

#include "dualpi2.h"
#include "ecn.bpf.h"
#include "instance.bpf.h"
#include "schedule/uncounted.bpf.h"
#include "schedule/unheld.bpf.h"

static __always_inline void schedule_params(struct instance *in)
{
}

static __always_inline u32 schedule_label_late(const struct instance *in, struct bpf_dynptr *frame,
					       const struct ip_header *ip)
{
	return 0;
}

/* ---- turns ----------------------------------------------------------------------- */

static __always_inline bool schedule_admits(const struct instance *in, const struct dualq *q,
					    const struct Qdisc *sch)
{
	return true;
}

static __always_inline bool schedule_admits_memory(const struct instance *in, const struct dualq *q,
						   u32 truesize)
{
	return true;
}

static __always_inline void schedule_queued(struct instance *in, struct dualq *q,
					    const struct packet_info *info, bool in_l)
{
}

static __always_inline void schedule_left(struct instance *in, struct dualq *q,
					  const struct packet_info *info, bool from_l)
{
}

static __always_inline void schedule_served(struct instance *in, struct dualq *q, u32 len, u64 now)
{
}

static __always_inline void schedule_used(struct instance *in, struct dualq *q, u32 len)
{
}

static __always_inline bool schedule_is_lost(const struct instance *in)
{
	return false;
}

/* ---- statistics ------------------------------------------------------------------ */

/* The packet is counted out when it is clear where it goes. */
static __always_inline u64 queue_bytes_behind(const struct instance *in, const struct dualq *q,
					      const struct packet_info *info, bool in_l)
{
	return queue_bytes(in, q, in_l) - info->len;
}

static __always_inline u64 schedule_ahead(const struct instance *in, const struct dualq *q)
{
	return queue_bytes(in, q, true);
}

static __always_inline struct dualpi2_overload *schedule_overload(struct instance *in,
								  struct dualq *q)
{
	return overload_of(q);
}

static __always_inline void schedule_publish(struct instance *in, struct dualpi2_stats *stats)
{
}

#endif /* SCHEDULE_FEW_BPF_H */
