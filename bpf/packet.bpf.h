/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of a packet from its arrival to its departure. */
#ifndef PACKET_BPF_H
#define PACKET_BPF_H

#include "vmlinux.h"

/* How it is treated: classify.bpf.h decides. In 16 bits, whose top two are a tag's (tag.bpf.h). */
#define PACKET_L 1	    /* it waits in the L queue */
#define PACKET_NOT_ECT 2    /* the AQM can only drop it */
#define PACKET_EXEMPT 4	    /* the AQM leaves it alone */
#define PACKET_UNTAGGED 8   /* it did not pass our tcx program, so it is too late for a mark */
#define PACKET_SCALABLE 16  /* marked with p_CL: its sender responds little to one mark */
#define PACKET_SETTLED 32   /* skb->priority has no say in where it goes */
#define PACKET_MARKABLE 64  /* ECT, not CE yet, and not exempt: a mark tells something */
#define PACKET_UNWANTED 128 /* aqm_arrives() has decided that it is to be dropped */
#define PACKET_CONVICT 256  /* the guard sends it to C (guard.bpf.h) */
#define PACKET_SPACED 512   /* it has taken a gap for C as well (link/shared.bpf.h) */

/* Those of a packet that waits in L and is none of the AQM's business. */
static __always_inline u32 exempt_in_l(u32 flags)
{
	return (flags & ~(PACKET_MARKABLE | PACKET_NOT_ECT)) | PACKET_L | PACKET_EXEMPT;
}

struct packet_info {
	u32 len;      /* as the qdisc layer counts it, bytes */
	u32 truesize; /* skb->truesize, bytes */
	u16 packets;  /* on the wire: > 1 for GSO */
	u16 flags;    /* PACKET_* */
};

#endif /* PACKET_BPF_H */
