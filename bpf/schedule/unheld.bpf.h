/* SPDX-License-Identifier: GPL-2.0-only */
/* Of a schedule in which nothing but the link holds back what waits. */
#ifndef SCHEDULE_UNHELD_BPF_H
#define SCHEDULE_UNHELD_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>

#include "instance.bpf.h"

static __always_inline u64 schedule_held_ns(const struct instance *in)
{
	return 0;
}

static __always_inline u64 schedule_forecast(const struct instance *in, const struct dualq *q,
					     u64 now)
{
	return 0;
}

#endif /* SCHEDULE_UNHELD_BPF_H */
