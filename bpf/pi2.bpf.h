/* SPDX-License-Identifier: GPL-2.0-only */
/* The AQM: PI2 with a step on the L queue. The queues, the classifier, the
 * scheduler and the shaper know nothing of it but these four functions:
 *
 *	aqm_mark()    what mark an arriving packet gets
 *	aqm_drop()    whether a departing packet is dropped, and why
 *	aqm_update()  every tupdate
 *	aqm_reset()   empty queues
 */
#ifndef PI2_BPF_H
#define PI2_BPF_H

enum mark { MARK_NONE, MARK_STEP, MARK_PI2 };
enum drop { DROP_NONE, DROP_PI2, DROP_OVERLOAD };

/* Below a backlog of two full frames PI2 neither marks nor drops (as sch_dualpi2):
 * the delay that it would fight is that of a single packet on a slow link.
 */
static __always_inline bool pi2_rests(const struct slot *slot, const struct net_device *dev)
{
	u64 backlog = slot->stats.l.backlog_bytes + slot->stats.c.backlog_bytes;

	return backlog < 2 * frame_len(dev);
}

/* Marks and drops come at even distances (RFC 9332, A.1, `recur`), not by dice as in
 * sch_dualpi2. A flow cuts its window once in a round trip, so dice that give it none
 * in one and two in the next leave it more than its share. Any CPU may count.
 */
static __always_inline bool recurs(u64 *count, u64 prob)
{
	return pi2_recurs(__sync_fetch_and_add(count, prob), prob);
}

/* The age of a queue's head. Enqueue times may have been read on another CPU a
 * moment later than `now`.
 */
static __always_inline u64 head_age(const struct dualpi2_queue *queue, u64 now)
{
	u64 head = queue->head_ns;

	return head && now > head ? now - head : 0;
}

/* How long an L packet that arrives now will wait, as far as can be told. The native
 * qdisc marks at dequeue and so knows the packet's own sojourn time. Here two lower
 * bounds of it stand for it: the head of the queue has waited so long already; and
 * behind our own shaper it is known when the link is free and how long the bytes
 * ahead take.
 */
static __always_inline u64 expected_l_delay(const struct slot *slot, u64 now)
{
	const struct dualpi2_params *params = &slot->stats.params;
	u64 age = head_age(&slot->stats.l, now), rate = params->rate, wait;

	if (slot->stats.c.head_ns) /* the scheduler serves C in between */
		rate = rate * (100 - params->classic_protection) / 100;
	wait = shaper_wait(&slot->shaper, rate, now, slot->stats.l.backlog_bytes);
	return age > wait ? age : wait;
}

/* The immediate AQM of the L queue (RFC 9331, 5.2: not smoothed). Only with a packet
 * in the queue already (RFC 9332, A.1): on a slow link a lone packet may wait longer
 * than the step for one of the C queue that is just being sent, which no L sender
 * can cure.
 */
static __always_inline bool step_exceeded(const struct slot *slot, u64 now)
{
	const struct dualpi2_params *params = &slot->stats.params;

	if (params->step_in_packets)
		return slot->stats.l.backlog_packets > params->step_packets;
	return slot->stats.l.head_ns && expected_l_delay(slot, now) > params->step_ns;
}

/* An ECN-capable packet arrives: should it be marked, and by which rule. In
 * overload C drops (at dequeue) instead of marking, L is always marked.
 */
static __always_inline enum mark aqm_mark(struct slot *slot, const struct net_device *dev,
					  bool in_l, u64 now)
{
	u32 prob = slot->stats.prob;
	u64 coupled;

	if (in_l && step_exceeded(slot, now))
		return MARK_STEP;
	if (!prob || pi2_rests(slot, dev))
		return MARK_NONE;
	coupled = pi2_coupled_prob(prob, slot->stats.params.coupling);
	if (in_l)
		return recurs(&slot->l_marks, coupled) ? MARK_PI2 : MARK_NONE;
	if (pi2_overloaded(coupled) || !recurs(&slot->c_hits, pi2_classic_prob(prob)))
		return MARK_NONE;
	return MARK_PI2;
}

/* A packet is about to leave: must it be dropped, and by which rule. Overload
 * (RFC 9332, 2.5.1.1) drops in both queues at the Classic probability, whatever
 * the ECN field.
 */
static __always_inline enum drop aqm_drop(struct slot *slot, const struct net_device *dev,
					  bool in_l, bool not_ect)
{
	u32 prob = slot->stats.prob;

	if (!prob)
		return DROP_NONE;
	if (!not_ect && !pi2_overloaded(pi2_coupled_prob(prob, slot->stats.params.coupling)))
		return DROP_NONE;
	if (pi2_rests(slot, dev) ||
	    !recurs(in_l ? &slot->l_drops : &slot->c_hits, pi2_classic_prob(prob)))
		return DROP_NONE;
	return not_ect ? DROP_PI2 : DROP_OVERLOAD;
}

static __always_inline void aqm_update(struct slot *slot, u64 now)
{
	u64 l_age = head_age(&slot->stats.l, now), c_age = head_age(&slot->stats.c, now);
	u64 delay = l_age > c_age ? l_age : c_age;

	slot->stats.prob =
		pi2_next_prob(&slot->gains, slot->stats.prob, delay, slot->last_delay_ns);
	slot->last_delay_ns = delay;
	slot->stats.updates++;
}

static __always_inline void aqm_reset(struct slot *slot)
{
	slot->stats.prob = 0;
	slot->last_delay_ns = 0;
	slot->l_marks = 0;
	slot->l_drops = 0;
	slot->c_hits = 0;
}

#endif /* PI2_BPF_H */
