// SPDX-License-Identifier: GPL-2.0-only
/* The decisions of the BPF programs, classify() and those of PI2, compiled for user space, for
 * test_aqm.py. The structs are the programs' own; the caller says what the queues hold. From the
 * functions bindings.py makes declarations, hence __u32 and not u32.
 */
#include "programs_here.h"

#include "classify.bpf.h"
#include "clock.bpf.h"
#include "instance.bpf.h"
#include "overload.bpf.h"
#include "turns.bpf.h"

struct instance *unit_aqm_new(const struct dualpi2_params *params, __u32 mtu)
{
	struct instance *in = calloc(1, sizeof(*in));

	if (!in)
		abort();
	in->link.frame_len = mtu;
	in->params = *params;
	classify_params(in);
	aqm_params(in);
	aqm_relaw(in, &in->dualq);
	aqm_reset(in, &in->dualq);
	return in;
}

void unit_aqm_free(struct instance *in)
{
	free(in);
}

void unit_aqm_set_prob(struct instance *in, __u32 prob)
{
	coupled_set_prob(in, &in->dualq, prob);
}

/* As tick(). */
__u32 unit_aqm_update(struct instance *in, __u64 now)
{
	struct dualq *q = &in->dualq;

	overload_update(in, q, aqm_update(in, q, now, 1), now);
	return q->coupled.prob;
}

bool unit_aqm_overload(const struct instance *in)
{
	return in->dualq.overload.active;
}

void unit_aqm_set_queue(struct instance *in, bool in_l, __u64 packets, __u64 bytes, __u64 head_ns)
{
	struct dualq *q = &in->dualq;

	if (in_l)
		q->l_packets = packets;
	counters_of(in, q, in_l)->bytes_in = bytes;
	fifo_of(q, in_l)->head_ns = head_ns;
}

__u32 unit_aqm_classify(const struct instance *in, __u8 tos)
{
	return classify(in, tos, 0);
}

__u32 unit_aqm_mark(struct instance *in, __u8 tos, __u64 now)
{
	const struct arrival arrival = { .now = now, .flags = unit_aqm_classify(in, tos) };

	if (!(arrival.flags & PACKET_MARKABLE) || !aqm_may_mark(in, &in->dualq))
		return MARK_NONE;
	return aqm_mark(in, &in->dualq, &arrival);
}

__u32 unit_aqm_drop(struct instance *in, __u32 flags, __u64 sojourn_ns)
{
	const bool in_l = flags & PACKET_L;

	if (!aqm_may_drop(&in->dualq, in_l, flags))
		return DROP_NONE;
	return aqm_drop(in, &in->dualq, flags, in_l, sojourn_ns, 0);
}
