/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract between a qdisc and who says which of its DualQs is served.
 *
 * Each bpf/schedule/NAME.bpf.h is a schedule, chosen with SCHEDULE_H. It has
 *
 *	DUALQS			how many DualQs a qdisc has; the first is in its instance
 *	TIMED			how many of them, from the first on, the timer updates; another one
 *				is updated at its packets (update.bpf.h)
 *	struct schedule		its state, one for each qdisc
 *
 *	schedule_home()		which of them a packet belongs to, in the tcx program
 *	schedule_dualq()	where it is; NULL: there is none
 *	schedule_next()		whose turn it is, while packets wait
 *
 * Number, limits, parameters, link and timer are the qdisc's; all else is the DualQ's.
 */
#ifndef SCHEDULE_BPF_H
#define SCHEDULE_BPF_H

#include "vmlinux.h"

struct instance;
struct dualq;
struct schedule;

/* The DualQ in the instance. */
static struct dualq *first_dualq(struct instance *in);

static struct schedule *schedule_of(struct instance *in);

/* The qdisc's own number, 0..DUALPI2_MAX_INSTANCES - 1. */
static u32 number_of(const struct instance *in);

/* Do packets wait in it? */
static bool dualq_waits(const struct dualq *q);

#define FOR_EACH_DUALQ(in, q, home) \
	for (home = 0; home < DUALQS && ((q) = schedule_dualq(in, home)); home++)

#endif /* SCHEDULE_BPF_H */
