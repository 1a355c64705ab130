/* SPDX-License-Identifier: GPL-2.0-only */
/* CoDel (RFC 8289) in a DualQ. Its law runs each queue. In C it signals: it drops a Not-ECT packet,
 * and in place of another one it marks the next ECN-capable packet that arrives, since one that
 * leaves can no longer be written to. p_C is the share of packets that it signals; the coupling
 * marks L4S packets with k * p', where p' = sqrt(p_C).
 *
 * In L its signals do nothing but raise p': a queue that stays above the target in spite of all
 * marks so ends as overload (RFC 9332, 4.2.3). L4S traffic that responds never comes there.
 */
#ifndef AQM_CODEL_BPF_H
#define AQM_CODEL_BPF_H

#include "aqm/codel.h"
#include "codel.h"
#include "coupled.bpf.h"

struct signalled {
	struct codel codel;
	u32 packets, signals; /* since the last update */
	u32 share;	      /* of signals, smoothed, 2^-32 */
};

struct aqm {
	struct signalled l, c;
	u32 marks_due; /* for packets that arrive at C */
	u8 drops;      /* 1: the packet that is leaving */
};

struct aqm_law {
	struct codel_law codel;
	u32 weight; /* of a period in a share, 2^-32 */
};

/* ---- a packet leaves --------------------------------------------------------------- */

static __noinline int ask(struct codel *codel, const struct codel_law *law, u64 now, u64 sojourn_ns,
			  bool can_drop)
{
	return codel_signals(codel, law, now, sojourn_ns, false, !can_drop);
}

/* Is it to be signalled? Most of the time there is nothing to ask. */
static __always_inline bool signals(struct instance *in, struct signalled *queue, u64 behind,
				    u64 sojourn_ns, u64 now, bool can_drop)
{
	const struct codel_law *law = &aqm_law_of(in)->codel;
	struct codel *codel = &queue->codel;

	queue->packets++;
	if (behind <= full_frame(in) || (sojourn_ns >> CODEL_SHIFT) + 1 < law->target) {
		codel_below(codel);
		return false;
	}
	if (!ask(codel, law, now, sojourn_ns, can_drop))
		return false;
	queue->signals++;
	return true;
}

#define aqm_left aqm_left
static __always_inline void aqm_left(struct instance *in, struct dualq *q,
				     const struct packet_info *info, bool in_l, u64 sojourn_ns,
				     u64 now)
{
	const bool can_drop = info->flags & PACKET_NOT_ECT || coupled_of(q)->c_overload;
	struct aqm *aqm = aqm_of(q);
	bool signalled;

	aqm->drops = 0;
	if (info->flags & PACKET_EXEMPT)
		return;
	signalled = signals(in, in_l ? &aqm->l : &aqm->c, queue_bytes(q, in_l) - info->len,
			    sojourn_ns, now, can_drop && !in_l);
	if (!signalled || in_l)
		return;
	aqm->drops = can_drop;
	if (!can_drop && info->flags & PACKET_MARKABLE)
		__sync_fetch_and_add(&aqm->marks_due, 1);
}

#define aqm_may_drop aqm_may_drop
static __always_inline bool aqm_may_drop(struct dualq *q, bool in_l, u32 flags)
{
	return in_l ? coupled_may_drop(q, true, flags) : aqm_of(q)->drops;
}

#define aqm_drop aqm_drop
static __always_inline enum drop aqm_drop(struct instance *in, struct dualq *q, u32 flags,
					  bool in_l, u64 sojourn_ns, u64 now)
{
	if (in_l)
		return coupled_drop(in, q, flags, true, sojourn_ns);
	return flags & PACKET_NOT_ECT ? DROP_AQM : DROP_OVERLOAD;
}

/* ---- a packet arrives --------------------------------------------------------------- */

#define aqm_may_mark aqm_may_mark
static __always_inline bool aqm_may_mark(struct dualq *q)
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

/* The share of signals, with those of the last period. */
static __always_inline u32 share_of(struct signalled *queue, u32 weight)
{
	const u64 signals = queue->signals, packets = queue->packets;
	u64 now = signals < packets ? (signals << 32) / packets : signals ? PROB_MAX : 0;

	queue->signals = 0;
	queue->packets = 0;
	queue->share = ((u64)queue->share * (PROB_MAX - weight) + now * weight) >> 32;
	return queue->share;
}

static __always_inline void aqm_update(struct instance *in, struct dualq *q, u64 now)
{
	const u32 prob_max = coupled_law_of(in)->coupling.prob_max;
	const u32 weight = aqm_law_of(in)->weight;
	struct aqm *aqm = aqm_of(q);
	u32 l = share_of(&aqm->l, weight), c = share_of(&aqm->c, weight);
	u32 prob = codel_sqrt(l > c ? l : c);

	coupled_set_prob(in, q, prob < prob_max ? prob : prob_max);
	if (!queue_bytes(q, false))
		aqm->marks_due = 0; /* of congestion that is over */
}

static __always_inline bool aqm_is_idle(struct dualq *q)
{
	return !aqm_of(q)->l.share && !aqm_of(q)->c.share;
}

static __always_inline void aqm_params(struct instance *in, struct dualq *q)
{
	const struct aqm_params *own = aqm_own(params_of(in));

	aqm_law_of(in)->codel = codel_make(own->codel_target_ns, own->codel_interval_ns,
					   own->codel_law, own->codel_steps);
	aqm_law_of(in)->weight =
		(AQM_PERIOD(own) << 32) / (AQM_PERIOD(own) + own->codel_interval_ns);
	coupled_params(in, q);
}

static __always_inline void aqm_reset(struct instance *in, struct dualq *q)
{
	coupled_reset(in, q);
	*aqm_of(q) = (struct aqm){};
}

#define aqm_gauges aqm_gauges
static __always_inline void aqm_gauges(struct dualq *q, struct aqm_gauges *gauges)
{
	const struct codel *codel = &aqm_of(q)->c.codel;
	const u64 now = bpf_ktime_get_ns() >> CODEL_SHIFT;

	gauges->drop_next_ns = codel->dropping && codel->drop_next > now
				       ? (codel->drop_next - now) << CODEL_SHIFT
				       : 0;
	gauges->count = codel->count;
	gauges->dropping = codel->dropping;
}

#endif /* AQM_CODEL_BPF_H */
