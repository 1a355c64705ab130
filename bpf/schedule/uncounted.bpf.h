/* SPDX-License-Identifier: GPL-2.0-only */
/* Of a schedule that counts nothing of a DualQ apart. */
#ifndef SCHEDULE_UNCOUNTED_BPF_H
#define SCHEDULE_UNCOUNTED_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>

#include "instance.bpf.h"

static __always_inline void schedule_marked(struct dualq *q, const struct packet_info *info,
					    bool in_l)
{
}

static __always_inline void schedule_dropped(struct dualq *q, const struct packet_info *info,
					     bool in_l)
{
}

static __always_inline void schedule_forwarded(struct dualq *q, const struct packet_info *info,
					       bool from_l, u64 sojourn_ns)
{
}

#endif /* SCHEDULE_UNCOUNTED_BPF_H */
