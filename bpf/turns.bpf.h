/* SPDX-License-Identifier: GPL-2.0-only */
/* Which DualQ a packet has, and whose turn it is: the functions of the schedule that SCHEDULE_H is
 * (schedule.bpf.h).
 */
#ifndef TURNS_BPF_H
#define TURNS_BPF_H

#include "instance.bpf.h"
#include SCHEDULE_TURNS_H

#endif /* TURNS_BPF_H */
