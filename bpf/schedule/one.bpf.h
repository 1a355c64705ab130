/* SPDX-License-Identifier: GPL-2.0-only */
/* A qdisc with one DualQ: there is nothing to choose. */
#ifndef SCHEDULE_ONE_BPF_H
#define SCHEDULE_ONE_BPF_H

#include "schedule.bpf.h"

#define SCHEDULE_KIND LINK_KIND
#define SEVERAL 0
#define SHOWN 1
#define SCHEDULE_TURNS_H "schedule/one_turns.bpf.h"

struct schedule {
};

struct in_schedule {
};

#endif /* SCHEDULE_ONE_BPF_H */
