/* SPDX-License-Identifier: GPL-2.0-only */
/* What lives as long as a qdisc: the instance, and in it a DualQ with two FIFOs. Where a schedule
 * has more of them (schedule.bpf.h), they are in its maps.
 *
 * Who writes what:
 * - enqueue, dequeue and reset run under the qdisc's lock and own the FIFOs, the counters, the
 *   credit and the shaper. The verifier wants the bpf_spin_lock around list operations as well.
 * - p' belongs to whoever wins the claim on update_due_ns (update.bpf.h). Curvy RED's is written by
 *   dequeue as well: of two writes at a time one is lost, until the next packet or update.
 * - the tcx program and the timer read without a lock: a head time or a backlog that is one
 *   packet old. The error is contained and temporary.
 * - stats belongs to publish(). Nothing else reads it.
 */
#ifndef INSTANCE_BPF_H
#define INSTANCE_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef AQM_H
#define AQM_H "aqm/pi2.bpf.h"
#endif
#ifndef SCHEDULE_H
#define SCHEDULE_H "schedule/one.bpf.h"
#endif
#ifndef LINK_H
#define LINK_H "link/own.bpf.h"
#endif

#include "coupled.bpf.h"
#include "dualpi2.h"
#include "guard.h"
#include "packet.bpf.h"
#include "schedule.bpf.h"
#include "sparse.h"
#include AQM_H
#include "aqm_rest.bpf.h"
#include SCHEDULE_H
#include LINK_H

/* Which struct a list holds, and by which member: read by the verifier. */
#define __contains(type, member) __attribute__((btf_decl_tag("contains:" #type ":" #member)))

struct packet {
	struct sk_buff __kptr *skb;
	u64 enqueued_ns;
	struct packet_info info;
	struct slot slot;
};

/* Packets that follow each other in a queue. 248 bytes: with its header it fills 256, one of
 * the sizes of the kernel's allocator for BPF. (A type that a kptr points to is looked up in
 * the kernel first, hence the prefix.)
 */
#define BLOCK_PACKETS 7
struct dualpi2_block {
	struct bpf_list_node list;
	struct packet packet[BLOCK_PACKETS];
};

/* The packets of one queue (fifo.bpf.h). */
struct fifo {
	struct packet lone;		   /* found the queue empty; its time is head_ns */
	u64 head_ns;			   /* when the first packet was enqueued; 0: it is empty */
	u64 second_ns;			   /* when the one behind `lone` was enqueued; 0: none */
	struct slot head_slot;		   /* of the first packet */
	struct slot second_slot;	   /* of the one behind `lone` */
	struct dualpi2_block __kptr *head; /* being emptied, if it is not the tail as well */
	struct dualpi2_block __kptr *tail; /* being filled */
	u32 full_blocks;		   /* head and those in the list */
	u32 first;			   /* packet of the blocks, in the first of them */
	u32 end;			   /* where the tail has its next place */
};

/* Two coupled queues. */
struct dualq {
	struct in_schedule in_schedule; /* of the schedule (SCHEDULE_H) */
	struct bpf_spin_lock lock;	/* for lists; the first one's for free blocks, too */
	struct fifo l, c;
	/* What lies between head and tail of each. Lists are in one struct with their lock. */
	struct bpf_list_head l_blocks __contains(dualpi2_block, list);
	struct bpf_list_head c_blocks __contains(dualpi2_block, list);
	u32 l_packets; /* on the wire, that wait in L */
	s32 credit;    /* scheduler.h */
	/* of the AQM, if it is not the link's (LINK_H) */
	struct coupled coupled;
	struct aqm aqm;
	u64 updates;
	u64 update_due_ns; /* when the next one is, if its packets make it (update.bpf.h) */
	u64 generation;	   /* of the parameters that its state is in line with */
	u64 start_ns;	   /* that of the qdisc when it began; else all of this is of the past */
	u32 home;	   /* which of its qdisc's */

	/* guard.bpf.h */
	u64 guarded_until_ns;	  /* so long a flow is out of L, or remembered */
	u64 convicts_ns;	  /* when what convicts sent is through at their share */
	struct sparse_all sparse; /* sparse.bpf.h */
	struct dualpi2_overload overload;
};

/* Whose packets are looked at by flow. */
#define JUDGES_L 1 /* of L: guard.bpf.h */
#define JUDGES_C 2 /* of C: sparse.bpf.h */

/* What is behind the queues (link.bpf.h, frames.bpf.h). */
struct link {
	struct link_clock clock;
	u64 rate;	 /* in force, bytes/s; 0: the device decides */
	u32 frame_len;	 /* of a full frame, bytes */
	u32 link_header; /* bytes of it in front of the IP header */
	u8 charges_lost; /* 1: what is dropped has used it */
	u8 is_framed;	 /* 1: bytes on the link are not those of the qdisc layer */
};

/* One qdisc. What packets write comes first and last; in the middle is what every CPU reads for
 * every packet.
 */
struct instance {
	struct dualq dualq;
	struct dualpi2_counters l_counters, c_counters;
	struct bpf_list_head free_blocks __contains(dualpi2_block, list);
	struct bpf_timer timer;
	struct link link;
	u32 n_free;			  /* blocks in free_blocks */
	u32 memory_used, max_memory_used; /* truesize of what is queued, bytes */
	u32 maxq;			  /* most packets that were ever queued */
	u8 to_trim;			  /* 1: dequeue has to look whether the limits hold */
	struct schedule schedule;

	/* tick.bpf.h */
	u64 update_due_ns; /* when the AQM is to be updated next */
	u64 overdue_ns;	   /* when enqueue steps in for the timer; 0: it has to start it */

	struct dualpi2_stats stats; /* as last published */

	u64 qdisc;   /* address of the struct Qdisc that it is of; 0: free */
	u64 root_of; /* address of the struct net_device whose root it is; 0: of none */
	u32 number;  /* its own, in dualpi2_qdiscs */

	u64 start_ns;	       /* when it started, or threw away all that waited */
	u64 generation;	       /* of the parameters */
	u64 credit_generation; /* the latest with which DualQs get a new credit */
	u64 sparse_generation; /* the latest that turned --sparse on */

	/* from the parameters */
	u32 classes_under;    /* handle whose classes skb->priority may name */
	u8 flags_of_tos[256]; /* PACKET_* by TOS byte or Traffic Class: classify() */
	struct dualpi2_params params;
	struct coupled_law coupled_law;
	struct aqm_law aqm_law;
	struct guard_law guard_law;
	struct sparse_law sparse_law;
	u8 judges_flows;    /* JUDGES_* */
	u64 flow_key;	    /* flow_mix() */
	u32 memlimit;	    /* bytes of truesize */
	s32 initial_credit; /* that an empty DualQ starts with */
	struct on_link on;
	u8 l_share; /* of the link's bytes, that L has at least, while C waits, too; percent */

	u32 handle;	 /* tc's; 0: attached by the kernel */
	u32 netns_inode; /* of the network namespace, for people */
	struct dualpi2_key key;
	u64 since_ns;					      /* when the qdisc started */
	char ifname[16];				      /* at that time */
	u64 bypassed_tcx, mispredicted, gso_split, gso_whole; /* struct dualpi2_stats */
	u64 convictions, redirected, unjudged;
	u64 sparse_packets, sparse_unknown;

	u32 l_octave, c_octave; /* of the last delay: histogram_record() */
	struct dualpi2_delays delays;
};

/* More than a cache line is between what each packet writes and what every CPU reads. */
#define CACHE_LINE 64
_Static_assert(sizeof(struct dualpi2_stats) >= CACHE_LINE, "before");
_Static_assert(__builtin_offsetof(struct instance, l_octave) -
			       __builtin_offsetof(struct instance, handle) >=
		       CACHE_LINE,
	       "behind");

static __always_inline struct fifo *fifo_of(struct dualq *q, const bool in_l)
{
	return in_l ? &q->l : &q->c;
}

static __always_inline struct dualq *first_dualq(struct instance *in)
{
	return &in->dualq;
}

static __always_inline u32 home_of(const struct dualq *q)
{
	return SEVERAL ? q->home : 0;
}

/* The one that the timer updates. */
static __always_inline bool is_first(const struct dualq *q)
{
	return !home_of(q);
}

/* Is there a packet in it? */
static __always_inline bool fifo_waits(const struct fifo *fifo)
{
	return fifo->head_ns;
}

static __always_inline bool dualq_waits(const struct dualq *q)
{
	return fifo_waits(&q->l) || fifo_waits(&q->c);
}

/* ---- what an AQM sees (aqm.bpf.h) ------------------------------------------------ */

static __always_inline struct aqm_law *aqm_law_of(struct instance *in)
{
	return &in->aqm_law;
}

static __always_inline struct coupled_law *coupled_law_of(struct instance *in)
{
	return &in->coupled_law;
}

static __always_inline const struct dualpi2_params *params_of(const struct instance *in)
{
	return &in->params;
}

static __always_inline u32 number_of(const struct instance *in)
{
	return in->number;
}

/* Enqueue times may have been read on another CPU a moment later than `now`. */
static __always_inline u64 queue_age(const struct dualq *q, bool in_l, u64 now)
{
	u64 head_ns = in_l ? q->l.head_ns : q->c.head_ns;

	return head_ns && now > head_ns ? now - head_ns : 0;
}

/* Of both queues. */
static __always_inline u64 dualq_bytes(const struct instance *in, const struct dualq *q)
{
	return queue_bytes(in, q, true) + queue_bytes(in, q, false);
}

static __always_inline u32 full_frame(const struct instance *in)
{
	return in->link.frame_len;
}

static __always_inline bool is_overloaded(struct dualq *q)
{
	return overload_of(q)->active;
}

#endif /* INSTANCE_BPF_H */
