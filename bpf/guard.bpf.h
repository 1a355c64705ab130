/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may stay in L (guard.h). It only takes out of L what classify() has put there. */
#ifndef GUARD_BPF_H
#define GUARD_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "conviction.bpf.h"
#include "dualpi2.h"
#include "flows.bpf.h"
#include "frames.bpf.h"
#include "guard.h"
#include "instance.bpf.h"
#include "turns.bpf.h"
#include "verifier.bpf.h"

/* The flow stays out: for its term, and while it goes on sending. Then it is remembered. */
static __always_inline void keep_out(struct dualq *q, struct guard_flow *flow, u64 now)
{
	u64 until_ns = now + GUARD_TERM_NS;

	flow->stay.last_ns = now;
	if (until_ns < flow->stay.until_ns)
		until_ns = flow->stay.until_ns;
	until_ns += GUARD_MEMORY_NS;
	if (q->guarded_until_ns < until_ns)
		q->guarded_until_ns = until_ns;
}

/* How long L is by what waits in it, ns. Where the rate is unknown its age tells, but only of a
 * queue that is more than somebody's window behind a device that stalls.
 */
static __always_inline u64 l_length(const struct instance *in, const struct dualq *q, u64 now)
{
	const struct guard_law *law = &in->guard_law;
	u64 bytes = queue_bytes(in, q, true);

	if (q->l_packets <= 1) /* no queue, as for the step (laqm.h) */
		return 0;
	if (law->rate)
		return guard_ns(bytes, law->rate);
	return bytes > law->long_bytes ? queue_age(q, true, now) : 0;
}

/* What guard.h asks, each walked through once. */
GLOBAL_SUBPROG bool convicts(const struct guard_law *law, struct guard_flow *flow, u64 delay_ns,
			     u32 len, u64 now)
{
	return law && flow && guard_convicts(law, flow, delay_ns, len, now);
}

GLOBAL_SUBPROG bool takes_link(const struct guard_law *law, struct guard_flow *flow, u64 c_ns,
			       u32 len, u64 now)
{
	return law && flow && guard_takes_link(law, flow, c_ns, len, now);
}

/* Is this packet too much, and why? */
static __always_inline bool guard_sentences(const struct instance *in, const struct dualq *q,
					    struct guard_flow *flow, u32 len,
					    struct verdict *verdict)
{
	const struct guard_law *law = &in->guard_law;

	verdict->l_ns = l_length(in, q, verdict->now);
	verdict->c_ns = 0;
	if (convicts(law, flow, verdict->l_ns, len, verdict->now))
		return true;
	verdict->c_ns = queue_age(q, false, verdict->now);
	return takes_link(law, flow, verdict->c_ns, len, verdict->now);
}

/* Is the packet's flow out of L, or is this the packet that is too much? */
static __always_inline bool guard_judges(struct __sk_buff *ctx, struct instance *in,
					 struct dualq *q, const struct arrival *arrival)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	struct verdict verdict = { .now = arrival->now };
	struct dualpi2_flow *flow = flow_of(ctx, in, arrival->now);

	if (!flow) {
		__sync_fetch_and_add(&in->unjudged, arrival->packets);
		return false;
	}
	if (!stay_lasts(&flow->guard.stay, q->c.head_ns, arrival->now)) {
		if (!guard_sentences(in, q, &flow->guard, qdisc_pkt_len(skb), &verdict))
			return false;
		__sync_fetch_and_add(&in->convictions, 1);
		conviction_tell(ctx, in->number, flow->id, &verdict);
	}
	keep_out(q, &flow->guard, arrival->now);
	return true;
}

/* Is L so long that somebody is to blame, or is one known who made it so? */
static __always_inline bool guard_is_awake(const struct instance *in, const struct dualq *q,
					   u64 now)
{
	return now < q->guarded_until_ns || queue_bytes(in, q, true) > in->guard_law.long_bytes;
}

/* The PACKET_* of a packet of L once the guard has looked at it. One that has to go to C is Classic
 * there, whatever its ECN field says. While C waits longer than L should, it is told to send less
 * if a mark can tell it: an innocent scalable sender soon leaves gaps, and comes back to L.
 */
static __noinline u32 guard(struct __sk_buff *ctx, struct instance *in, struct dualq *q,
			    const struct arrival *arrival)
{
	const u64 now = arrival->now;
	u32 flags = arrival->flags;

	if (flags & PACKET_EXEMPT || !guard_is_awake(in, q, now) ||
	    !guard_judges(ctx, in, q, arrival))
		return flags;
	flags &= ~(PACKET_L | PACKET_SCALABLE);
	if (2 * queue_age(q, false, now) <= in->guard_law.long_ns)
		flags &= ~PACKET_MARKABLE;
	return flags | PACKET_NOT_ECT | PACKET_CONVICT;
}

/* A packet that was sent to C arrives there. Is it more than the share of convicts, while C waits?
 */
static __always_inline bool guard_refuses(struct instance *in, struct dualq *q,
					  const struct packet_info *info, u64 now)
{
	u32 len = wire_len(in, info->len, info->packets);

	in->redirected += info->packets;
	return guard_polices(&in->guard_law, &q->convicts_ns, len, now) &&
	       (queue_age(q, false, now) > in->guard_law.long_ns ||
		queue_bytes(in, q, false) > in->guard_law.long_bytes);
}

#endif /* GUARD_BPF_H */
