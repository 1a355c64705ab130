/* SPDX-License-Identifier: GPL-2.0-only */
/* Not written yet: all packets have the first DualQ. */
#ifndef SCHEDULE_PLANS_TURNS_BPF_H
#define SCHEDULE_PLANS_TURNS_BPF_H

#include "schedule/one_turns.bpf.h"

static inline struct turns_dualq *turns_dualq_at(struct turns *turns, u32 number)
{
	return NULL;
}

static inline u32 turns_waiting(const struct turns_dualq *dualq)
{
	return 0;
}

static inline s32 turns_quantum(const struct turns *turns, const struct turns_dualq *dualq)
{
	return 0;
}

static inline bool turns_holds(struct turns *turns, enum turns_which which,
			       struct turns_dualq *dualq, u32 number, u32 waiting)
{
	return false;
}

static inline struct plans_dualq *plans_of_dualq(struct turns_dualq *dualq)
{
	return NULL;
}

static inline struct plans_parent *plans_parent_at(struct plans *plans, u32 number)
{
	return NULL;
}

static inline const struct plan *plans_plan_at(const struct plans *plans, u32 number)
{
	return NULL;
}

#endif /* SCHEDULE_PLANS_TURNS_BPF_H */
