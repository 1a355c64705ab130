/* SPDX-License-Identifier: GPL-2.0-only */
/* CoDel (RFC 8289) in a DualQ. Its law runs each queue. In C it signals: it drops a Not-ECT packet,
 * and in place of another one it marks the next ECN-capable packet that arrives, since one that
 * leaves can no longer be written to. p_C is the share of packets that it signals; the coupling
 * marks L4S packets with k * p', where p' = sqrt(p_C).
 *
 * In L its signals do nothing but raise p': a queue that stays above the target in spite of all
 * marks so ends as overload (RFC 9332, 4.2.3). L4S traffic that responds stays below it, unless the
 * target is below the step threshold, or a few frames take the link longer.
 */
#ifndef AQM_CODEL_BPF_H
#define AQM_CODEL_BPF_H

#include "aqm/codel.h"
#include "codel.h"
#include "coupled.bpf.h"

struct aqm {
	struct codel l, c;
	u32 marks_due; /* for packets that arrive at C */
	u8 drop_due;   /* 1: for one that leaves C, or with drop_enqueue arrives at it */
};

struct aqm_law {
	struct codel_law codel;
};

/* ---- a packet leaves --------------------------------------------------------------- */

static __noinline int signals(struct codel *codel, const struct codel_law *law, u64 now,
			      u64 sojourn_ns, u32 how)
{
	return codel_signals(codel, law, now, sojourn_ns, how);
}

static __always_inline bool c_drops(struct dualq *q, u32 flags)
{
	return flags & PACKET_NOT_ECT || coupled_of(q)->c_overload;
}

#define aqm_left aqm_left
static __always_inline void aqm_left(struct instance *in, struct dualq *q,
				     const struct packet_info *info, bool in_l, u64 sojourn_ns,
				     u64 now)
{
	const struct codel_law *law = &aqm_law_of(in)->codel;
	bool drops = !in_l && c_drops(q, info->flags);
	struct aqm *aqm = aqm_of(q);
	u32 how = drops ? 0 : CODEL_MARKS;

	if (info->flags & PACKET_EXEMPT)
		return;
	if (queue_bytes_behind(in, q, info, in_l) <= full_frame(in))
		how |= CODEL_LAST;
	if (!signals(in_l ? &aqm->l : &aqm->c, law, now, sojourn_ns, how) || in_l)
		return;
	if (drops)
		aqm->drop_due = 1;
	else if (info->flags & PACKET_MARKABLE && !(info->flags & PACKET_SCALABLE))
		__sync_fetch_and_add(&aqm->marks_due, 1);
}

#define aqm_may_drop aqm_may_drop
static __always_inline bool aqm_may_drop(struct dualq *q, bool in_l, u32 flags)
{
	return in_l ? coupled_may_drop(q, true, flags) : aqm_of(q)->drop_due && c_drops(q, flags);
}

#define aqm_drop aqm_drop
static __always_inline enum drop aqm_drop(struct instance *in, struct dualq *q, u32 flags,
					  bool in_l, u64 sojourn_ns, u64 now)
{
	if (in_l)
		return coupled_drop(in, q, flags, true, sojourn_ns);
	aqm_of(q)->drop_due = 0;
	return flags & PACKET_NOT_ECT ? DROP_AQM : DROP_OVERLOAD;
}

/* ---- a packet arrives --------------------------------------------------------------- */

#define aqm_may_mark aqm_may_mark
static __always_inline bool aqm_may_mark(const struct instance *in, struct dualq *q)
{
	return coupled_may_mark(q) || aqm_of(q)->marks_due;
}

#define aqm_mark aqm_mark
static __always_inline enum mark aqm_mark(struct instance *in, struct dualq *q,
					  const struct arrival *arrival)
{
	struct aqm *aqm = aqm_of(q);
	u32 due = aqm->marks_due;

	if (arrival->flags & (PACKET_L | PACKET_SCALABLE))
		return coupled_mark(in, q, arrival);
	if (!due || __sync_val_compare_and_swap(&aqm->marks_due, due, due - 1) != due)
		return MARK_NONE;
	return MARK_COUPLED;
}

/* ---- the rest ------------------------------------------------------------------------ */

static __always_inline bool aqm_update(struct instance *in, struct dualq *q, u64 now, u64 periods)
{
	const struct aqm_params *own = aqm_own(params_of(in));
	const u32 weight = codel_weight(periods * AQM_PERIOD(own), own->codel_interval_ns);
	struct aqm *aqm = aqm_of(q);
	u32 l = codel_share(&aqm->l, weight), c = codel_share(&aqm->c, weight);

	coupled_set_prob(in, q, coupled_bound(in, codel_sqrt(l > c ? l : c)));
	if (!queue_bytes(in, q, false)) { /* the congestion is over */
		aqm->marks_due = 0;
		aqm->drop_due = 0;
	}
	return coupled_is_saturated(in, q);
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return !aqm_of(q)->l.share && !aqm_of(q)->c.share;
}

static __always_inline void aqm_params(struct instance *in)
{
	const struct aqm_params *own = aqm_own(params_of(in));

	aqm_law_of(in)->codel = codel_make(own->codel_target_ns, own->codel_interval_ns,
					   own->codel_law, own->codel_steps);
	coupled_params(in);
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	coupled_reset(in, q);
	*aqm_of(q) = (struct aqm){};
}

#define aqm_gauges aqm_gauges
static __always_inline void aqm_gauges(struct instance *in, struct dualq *q,
				       struct aqm_gauges *gauges, struct dualpi2_levels *levels)
{
	const struct codel *codel = &aqm_of(q)->c;

	gauges->drop_next_ns = codel_next_ns(codel, bpf_ktime_get_ns());
	gauges->count = codel->count;
	gauges->dropping = codel->dropping;
}

#endif /* AQM_CODEL_BPF_H */
