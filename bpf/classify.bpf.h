/* SPDX-License-Identifier: GPL-2.0-only */
/* Which queue a packet waits in, and how it learns of congestion there. */
#ifndef CLASSIFY_BPF_H
#define CLASSIFY_BPF_H

#define PACKET_L 1	 /* for the L queue */
#define PACKET_NOT_ECT 2 /* PI2 acts on it by drop */
#define PACKET_EXEMPT 4	 /* the AQM leaves it alone */
#define PACKET_LATE 8	 /* classified without our tcx program, too late for any mark */

/* Minor numbers of skb->priority, below our handle (TCA_DUALPI2 classes of
 * net/sched/sch_dualpi2.c).
 */
#define PRIORITY_L4S 1
#define PRIORITY_L_WITHOUT_AQM 2

/* Who put the packet where, the first that has something to say:
 *
 *	--classic-dscp	kept out of L, whatever else it is (RFC 9331, 5.4.1.2)
 *	ECN field	ECT(1) and CE, as the mask says (RFC 9331, 5.1)
 *	skb->priority	classes 1 and 2 of this qdisc, as sch_dualpi2 has them
 *	--l4s-dscp	put into L (RFC 9331, 5.4.1.1)
 *
 * `handle` is the qdisc's; 0 (attached by the kernel) has no classes. Returns PACKET_*.
 */
static __always_inline u16 classify(const struct dualpi2_params *params, const struct ip_place *ip,
				    u32 handle, u32 priority)
{
	enum ecn ecn = ip_ecn(ip);
	u64 dscp = 1ULL << (ip->tos >> 2);
	u32 minor = TC_H_MIN(priority);
	u16 flags = 0;

	/* With L4S switched off ECT(1) counts as Not-ECT (RFC 9331, 5.1). */
	if (ecn == ECN_NOT_ECT || (ecn == ECN_ECT_1 && !params->ecn_mask))
		flags = PACKET_NOT_ECT;
	if (ip->version && params->classic_dscp & dscp)
		return flags;
	if (ecn & params->ecn_mask)
		return flags | PACKET_L;
	if (handle && TC_H_MAJ(priority) == handle &&
	    (minor == PRIORITY_L4S || minor == PRIORITY_L_WITHOUT_AQM))
		return flags | PACKET_L | (minor == PRIORITY_L_WITHOUT_AQM ? PACKET_EXEMPT : 0);
	if (ip->version && params->l4s_dscp & dscp)
		return flags | PACKET_L;
	return flags;
}

/* Does the sender react to every mark as to a small one, so that it gets more of them?
 * ECT(1) in either queue (RFC 9332, 2.5.1.1), ECT(0) where the user says so (any_ect).
 */
static __always_inline bool is_scalable(const struct dualpi2_params *params, enum ecn ecn)
{
	return ecn == ECN_ECT_1 || (ecn == ECN_ECT_0 && params->ecn_mask == DUALPI2_ECN_ANY_ECT);
}

#endif /* CLASSIFY_BPF_H */
