/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract between the queues and an AQM.
 *
 * Each bpf/aqm/NAME.bpf.h is an AQM, and makes a BPF object and a qdisc kind of its own. It has
 * two structs and these functions:
 *
 *	struct aqm		its state, one for each DualQ
 *	struct aqm_law		what it derives from the parameters, one for each qdisc
 *
 *	aqm_update()		every AQM_PERIOD of include/aqm/NAME.h, while busy; for several of
 *				them at once, `periods`, where updates were missed. Returns whether
 *				the load is more than marks can tame (RFC 9332, 4.2.3)
 *	aqm_is_idle()		without packets there is nothing to update
 *	aqm_params()		parameters to work with from now on: the law
 *	aqm_reset()		the queues are empty, and it forgets
 *
 * These it may leave out. Then coupled.bpf.h does what its p' asks for, or nothing is done. One
 * that it has is announced by `#define aqm_mark aqm_mark` (aqm_rest.bpf.h).
 *
 *	aqm_relaw()		what hangs on the law in the state of a DualQ
 *	aqm_may_mark()		can aqm_mark() find a mark now: a quick look
 *	aqm_mark()		what mark an arriving packet gets, that a mark can tell something
 *	aqm_may_drop()		can aqm_drop() drop this packet now: a quick look
 *	aqm_drop()		is a packet dropped, and why
 *	aqm_note()		what the AQM notes of a packet in the tcx program: 32 bits that
 *				go with it. 0 is none, also if it did not pass that program
 *	aqm_arrives()		a packet, with its note, is within the limits and about to join
 *				its queue
 *	aqm_left()		a packet has left its queue, to be forwarded unless aqm_drop()
 *				says otherwise
 *	aqm_schedules()		does it choose between the queues itself, without the credit
 *	aqm_serves_l()		then, while packets wait in both: is L served next
 *	aqm_c_delay()		at which its parameters want to hold C, ns; 0: at none
 *	aqm_start()		a qdisc begins: counters of AQM_GAUGES become 0
 *	aqm_gauges()		what the statistics show: AQM_GAUGES of include/aqm/NAME.h, and
 *				without a p' what packets are marked and dropped with
 *
 * The tcx program calls aqm_note(), aqm_may_mark() and aqm_mark(), on any CPU and without a lock.
 * The timer, or a packet if that is late, calls aqm_update(), on one CPU at a time. The timer also
 * asks, without the lock, whether the AQM is idle, and whoever publishes statistics for gauges. A
 * change of parameters calls aqm_c_delay(), aqm_params() and aqm_relaw() without the lock, too (the
 * start of a qdisc calls the first two); another DualQ than the first gets aqm_relaw() at its next
 * packet. All else runs under the lock of the qdisc.
 *
 * An AQM sees an instance and its DualQ only through the functions below, which instance.bpf.h,
 * frames.bpf.h and the link (link.bpf.h) define. Where several qdiscs have one link, its state,
 * what waits and the oldest head are the link's.
 */
#ifndef AQM_BPF_H
#define AQM_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "packet.bpf.h"

enum mark {
	MARK_NONE,
	MARK_NATIVE,  /* by the L queue's own AQM */
	MARK_COUPLED, /* by the AQM of both queues */
	MARK_GUARD,   /* by the guard (guard.bpf.h) */
};

enum drop {
	DROP_NONE,
	DROP_AQM,      /* in place of a mark */
	DROP_OVERLOAD, /* although a mark could have told */
};

/* A packet in the tcx program, before it is queued. */
struct arrival {
	u64 now;     /* CLOCK_MONOTONIC, ns */
	u32 flags;   /* PACKET_* */
	u32 note;    /* aqm_note() */
	u32 packets; /* on the wire */
};

struct instance;
struct dualq;
struct aqm;
struct aqm_law;
struct coupled;
struct coupled_law;

static struct aqm *aqm_of(struct dualq *q);
static struct coupled *coupled_of(struct dualq *q);
static struct aqm_law *aqm_law_of(struct instance *in);
static struct coupled_law *coupled_law_of(struct instance *in);
static const struct dualpi2_params *params_of(const struct instance *in);

/* The qdisc's own, 0..DUALPI2_MAX_INSTANCES - 1. */
static u32 number_of(const struct instance *in);

/* Age of the packet at a queue's head, ns; 0 if the queue is empty. */
static u64 queue_age(const struct dualq *q, bool in_l, u64 now);

/* What waits in a queue, bytes. */
static u64 queue_bytes(const struct instance *in, const struct dualq *q, bool in_l);

/* The same behind the packet that aqm_left() is about. */
static u64 queue_bytes_behind(const struct instance *in, const struct dualq *q,
			      const struct packet_info *info, bool in_l);

/* What waits in the L queue, packets on the wire. */
static u32 l_packets(const struct dualq *q);

/* What waits in both queues, bytes. */
static u64 backlog_bytes(const struct instance *in, const struct dualq *q);

/* Age of the oldest of the heads that aqm_update() is about, ns; 0: there is none. Only there. */
static u64 oldest_age(const struct dualq *q, bool in_l, u64 now);

/* How long an L packet that arrives now will wait at least, ns. What is `enough_ns` or more is not
 * worked out further.
 */
static u64 l_forecast(const struct instance *in, const struct dualq *q, u64 now, u64 enough_ns);

/* What packets take on the link, bytes: `len` by the qdisc layer's count, `packets` of them. */
static u32 wire_len(const struct instance *in, u32 len, u32 packets);

/* What the link carries, bytes/s; 0: the device decides. */
static u64 link_rate(const struct instance *in);

/* Length of a full frame, bytes. */
static u32 full_frame(const struct instance *in);

/* Is there an overload event (RFC 9332, 2.5.2.3)? */
static bool is_overloaded(struct dualq *q);
static struct dualpi2_overload *overload_of(struct dualq *q);

#endif /* AQM_BPF_H */
