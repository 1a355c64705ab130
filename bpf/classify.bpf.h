/* SPDX-License-Identifier: GPL-2.0-only */
/* Which queue a packet waits in, and how it learns of congestion there. */
#ifndef CLASSIFY_BPF_H
#define CLASSIFY_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "ecn.bpf.h"
#include "instance.bpf.h"
#include "packet.bpf.h"

/* Minor numbers of skb->priority (TCA_DUALPI2 classes of net/sched/sch_dualpi2.c), below our handle
 * or under an mq below that of the mq: which of its queues a packet comes to no rule knows.
 */
#define PRIORITY_L4S 1
#define PRIORITY_L_WITHOUT_AQM 2
#define PRIORITY_CLASSES_NONE 0xffffffffU /* no handle: its minor number is not 0 */

/* Who puts a packet where, the first that has something to say:
 *
 *	--classic-dscp	kept out of L, whatever else it is (RFC 9331, 5.4.1.2)
 *	ECN field	ECT(1) and CE, as the mask says (RFC 9331, 5.1)
 *	skb->priority	classes 1 and 2 of this qdisc, as sch_dualpi2 has them
 *	--l4s-dscp	put into L (RFC 9331, 5.4.1.1)
 *
 * All but skb->priority hang on one byte of the packet and on parameters, and so
 * are decided beforehand, for each value of that byte. Returns PACKET_*.
 */
static __always_inline u8 classify_tos(const struct dualpi2_params *params, u8 tos)
{
	enum ecn ecn = tos & 3;
	u64 dscp = 1ULL << (tos >> 2);
	u8 flags = 0;

	/* With L4S switched off ECT(1) counts as Not-ECT (RFC 9331, 5.1). */
	if (ecn == ECN_NOT_ECT || (ecn == ECN_ECT_1 && !params->ecn_mask))
		flags |= PACKET_NOT_ECT;
	/* ECT(1) in either queue (RFC 9332, 2.5.1.1), ECT(0) where the user says so. */
	if (ecn == ECN_ECT_1 || (ecn == ECN_ECT_0 && params->ecn_mask == DUALPI2_ECN_ANY_ECT))
		flags |= PACKET_SCALABLE;
	if (!(flags & PACKET_NOT_ECT) && ecn != ECN_CE)
		flags |= PACKET_MARKABLE;
	if (params->classic_dscp & dscp)
		return flags | PACKET_SETTLED;
	if (ecn & params->ecn_mask)
		return flags | PACKET_SETTLED | PACKET_L;
	return params->l4s_dscp & dscp ? flags | PACKET_L : flags;
}

/* From the parameters of the instance, and its place. */
static __always_inline void classify_params(struct instance *in)
{
	const u32 parent = in->key.parent;
	u32 tos;

	bpf_for(tos, 0, 256)
		in->flags_of_tos[tos & 255] = classify_tos(&in->params, tos);
	in->classes_under =
		(parent == TC_H_ROOT ? in->handle : TC_H_MAJ(parent)) ?: PRIORITY_CLASSES_NONE;
}

/* Where a packet goes. `tos`: NO_TOS without an IP header, then as one that is Not-ECT.
 * Returns PACKET_*.
 */
static __always_inline u8 classify(const struct instance *in, s32 tos, u32 priority)
{
	u8 flags = tos == NO_TOS ? PACKET_NOT_ECT : in->flags_of_tos[tos & 255];
	u32 class = priority ^ in->classes_under; /* the minor number, if it is below */

	if ((class != PRIORITY_L4S && class != PRIORITY_L_WITHOUT_AQM) || flags & PACKET_SETTLED)
		return flags;
	if (class == PRIORITY_L4S)
		return flags | PACKET_L;
	return exempt_in_l(flags);
}

#endif /* CLASSIFY_BPF_H */
