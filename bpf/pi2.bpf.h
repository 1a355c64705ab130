/* SPDX-License-Identifier: GPL-2.0-only */
/* The AQM: PI2 with a native AQM of its own for the L queue. The queues, the
 * classifier, the scheduler and the shaper know nothing of it but these functions:
 *
 *	aqm_mark()    what mark an arriving packet gets; aqm_may_mark() first
 *	aqm_drop()    whether a packet is dropped, and why; aqm_may_drop() first
 *	aqm_update()  every tupdate
 *	aqm_params()  parameters to work with from now on
 *	aqm_reset()   empty queues
 */
#ifndef PI2_BPF_H
#define PI2_BPF_H

enum mark { MARK_NONE, MARK_STEP, MARK_PI2 };
enum drop { DROP_NONE, DROP_PI2, DROP_OVERLOAD };

/* Below a backlog of two full frames PI2 neither marks nor drops (as sch_dualpi2):
 * the delay that it would fight is that of a single packet on a slow link.
 */
static __always_inline bool pi2_rests(const struct slot *slot)
{
	u64 backlog = dualpi2_queue_bytes(&slot->stats.l) + dualpi2_queue_bytes(&slot->stats.c);

	return backlog < 2ULL * slot->frame_len;
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
 * ahead take. Where the first decides, the second is not computed.
 */
static __always_inline u64 expected_l_delay(const struct slot *slot, u64 now)
{
	const struct dualpi2_params *params = &slot->stats.params;
	u64 age = head_age(&slot->stats.l, now), rate = params->rate, ahead, wait;

	if (!rate || age > slot->sure_delay_ns)
		return age;
	if (slot->stats.c.head_ns) /* the scheduler serves C in between */
		rate = rate * (100 - params->classic_protection) / 100;
	ahead = shaper_wire_len(params, dualpi2_queue_bytes(&slot->stats.l), slot->l_packets,
				slot->link_header);
	wait = shaper_wait(&slot->shaper, rate, now, ahead);
	return age > wait ? age : wait;
}

/* p'_L for a packet in L whose delay is, or will be, `l_delay_ns`. */
static __always_inline u32 native_prob(const struct slot *slot, u64 l_delay_ns)
{
	return laqm_prob(&slot->stats.params, l_delay_ns, slot->l_packets);
}

/* A new p', and what hangs on it for every packet until the next one. */
static __always_inline void set_prob(struct slot *slot, u32 prob)
{
	slot->stats.prob = prob;
	slot->l_overload = pi2_l_overloaded(&slot->law, prob);
	slot->c_overload = pi2_c_overloaded(&slot->law, prob);
}

static __always_inline bool overloaded(const struct slot *slot, bool in_l)
{
	return in_l ? slot->l_overload : slot->c_overload;
}

/* Is it a Classic packet's turn to be marked or dropped: by p', or by what p'_L means to
 * a Classic sender if that is more.
 */
static __always_inline bool classic_hit(struct slot *slot, bool in_l, u32 prob, u32 native)
{
	u8 coupling = slot->law.coupling;
	u32 classic = native > pi2_coupled_prob(prob, coupling) ? pi2_classic_of(native, coupling)
								: pi2_classic_prob(prob);

	return recurs(in_l ? &slot->l_hits : &slot->c_hits, classic);
}

/* Could aqm_mark() find a mark now? Most of the time L is empty and p' is 0. */
static __always_inline bool aqm_may_mark(const struct slot *slot)
{
	return slot->stats.prob | slot->l_packets;
}

/* A packet arrives that a mark can tell of congestion (ECT): should it be marked, and
 * by which rule.
 *
 *			in L				in C
 *	scalable	p_L = max(p'_L, p_CL)		p_CL
 *	Classic		(p_L / k)^2			p_C = p'^2
 *
 * (RFC 9332, A.1 and 2.5.1.1.) In overload L4S packets in L are always marked; Classic
 * ones are dropped instead.
 */
static __always_inline enum mark aqm_mark(struct slot *slot, u32 flags, u64 now)
{
	bool in_l = flags & PACKET_L, scalable = flags & PACKET_SCALABLE;
	u32 prob = slot->stats.prob, native = 0;
	u64 coupled;
	bool hit;

	if (in_l && slot->l_packets)
		native = native_prob(slot, expected_l_delay(slot, now));
	if (scalable && native == PI2_PROB_MAX)
		return MARK_STEP;
	if (!prob && !native)
		return MARK_NONE;
	if (prob && pi2_rests(slot))
		prob = 0;
	coupled = pi2_coupled_prob(prob, slot->law.coupling);
	if (scalable)
		hit = recurs(&slot->l_marks, native > coupled ? native : coupled);
	else
		hit = !overloaded(slot, in_l) && classic_hit(slot, in_l, prob, native);
	if (!hit)
		return MARK_NONE;
	return native > coupled ? MARK_STEP : MARK_PI2;
}

/* Could aqm_drop() drop this packet now? */
static __always_inline bool aqm_may_drop(const struct slot *slot, bool in_l, u32 flags)
{
	return flags & PACKET_NOT_ECT ? in_l || slot->stats.prob : overloaded(slot, in_l);
}

/* Must a packet (PACKET_* flags) be dropped, and by which rule: one that no mark can
 * tell of congestion, with p_C, in L with what p_L is to a Classic sender (RFC 9332,
 * 2.5.1.1); in overload every packet with p_C. `l_delay_ns`: sojourn time of one in L.
 */
static __always_inline enum drop aqm_drop(struct slot *slot, bool in_l, u32 flags, u64 l_delay_ns)
{
	u32 prob = slot->stats.prob, native = 0;
	bool not_ect = flags & PACKET_NOT_ECT;

	/* One that came without a verdict is L4S for all we know: p_C has to do. */
	if (in_l && not_ect && !(flags & PACKET_LATE))
		native = native_prob(slot, l_delay_ns);
	if (!prob && !native)
		return DROP_NONE;
	if (flags & PACKET_EXEMPT)
		return DROP_NONE;
	if (prob && pi2_rests(slot))
		prob = 0;
	if (!classic_hit(slot, in_l, prob, native))
		return DROP_NONE;
	return not_ect ? DROP_PI2 : DROP_OVERLOAD;
}

/* Tell those who follow the ring buffer. One that is full loses events, which the
 * statistics still count.
 */
static __always_inline void overload_report(const struct slot *slot, bool ended)
{
	struct dualpi2_event event = {
		.key = slot->key,
		.ended = ended,
		.netns = slot->netns_inode,
		.start_ns = slot->stats.overload.start_ns,
		.duration_ns = slot->stats.overload.duration_ns,
	};

	__builtin_memcpy(event.ifname, slot->stats.ifname, sizeof(event.ifname));
	bpf_ringbuf_output(&dualpi2_events, &event, sizeof(event), 0);
}

/* Overload begins at once and is over when none was seen for a while (RFC 9332,
 * 2.5.2.3: no flapping).
 */
static __always_inline void overload_update(struct slot *slot, u64 now)
{
	struct dualpi2_overload *overload = &slot->stats.overload;

	if (pi2_saturated(&slot->law, slot->stats.prob)) {
		if (!overload->active) {
			overload->active = 1;
			overload->events++;
			overload->start_ns = now;
			overload->duration_ns = 0;
			overload_report(slot, false);
		}
		overload->total_ns += now - overload->start_ns - overload->duration_ns;
		overload->duration_ns = now - overload->start_ns;
	} else if (overload->active &&
		   now - overload->start_ns - overload->duration_ns >= DUALPI2_OVERLOAD_HOLD_NS) {
		overload->active = 0;
		overload_report(slot, true);
	}
}

static __always_inline void aqm_update(struct slot *slot, u64 now)
{
	u64 l_age = head_age(&slot->stats.l, now), c_age = head_age(&slot->stats.c, now);
	u64 delay = l_age > c_age ? l_age : c_age;
	u32 prob = pi2_next_prob(&slot->law, slot->stats.prob, delay, slot->last_delay_ns);

	if (slot->stats.overload.active)
		prob = pi2_decay(&slot->law, prob, delay, slot->last_delay_ns);
	set_prob(slot, prob);
	slot->last_delay_ns = delay;
	slot->stats.updates++;
	overload_update(slot, now);
}

static __always_inline void aqm_params(struct slot *slot, const struct dualpi2_params *params)
{
	const struct aqm_params *own = aqm_own(params);

	slot->sure_delay_ns = laqm_sure_delay(params);
	slot->law.target_ns = own->target_ns;
	slot->law.alpha = pi2_scale_gain(own->alpha);
	slot->law.beta = pi2_scale_gain(own->beta);
	pi2_set_overload(&slot->law, params->coupling, params->p_cmax, params->overflow);
	set_prob(slot, slot->stats.prob);
}

static __always_inline void aqm_reset(struct slot *slot)
{
	set_prob(slot, 0);
	slot->last_delay_ns = 0;
	slot->l_marks = 0;
	slot->l_hits = 0;
	slot->c_hits = 0;
}

#endif /* PI2_BPF_H */
