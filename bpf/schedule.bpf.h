/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract between a qdisc and who says which of its DualQs is served.
 *
 * Each bpf/schedule/NAME.bpf.h is a schedule, chosen with SCHEDULE_H. It has
 *
 *	SCHEDULE_KIND		the kind of its qdiscs, if it is not the link's
 *	SEVERAL			1: there are more DualQs than the first, which is in its instance.
 *				The timer updates the first, another one is updated at its packets
 *				(update.bpf.h)
 *	SHOWN			how many of them, from the first on, have a row of statistics
 *	struct schedule		its state, one for each qdisc
 *	struct in_schedule	and one for each DualQ
 *	SCHEDULE_TURNS_H	the header with these functions (turns.bpf.h)
 *
 *	schedule_params()	the parameters, or the device's frames, may have changed
 *	schedule_start()	a qdisc starts, or has thrown away all that waited. What is known of
 *				its DualQs but the first is of the past (dualq_renew())
 *
 *	schedule_label()	whose a packet is, in the tcx program: what enqueue has to know of
 *				that, in 32 bits
 *	schedule_label_late()	the same at enqueue, of a packet that brings no label
 *	schedule_find()		the DualQ of a label, for who has no lock; NULL: it has none yet
 *	schedule_claim()	the same at enqueue, and which one it is: there is one, but for what
 *				the verifier knows
 *	schedule_dualq()	where a DualQ is; NULL: there is none
 *
 *	schedule_admits()	is there room for one more packet in this DualQ, when the limits of
 *				the qdisc allow it
 *	schedule_admits_memory()	and for its memory
 *	schedule_queued()	a packet waits from now on
 *	schedule_left()		or no more
 *	schedule_next()		whose turn it is, while packets wait; NULL: not known yet, so ask
 *				again, or held. AT_ANY_TIME: of whom something is thrown away
 *	schedule_held_ns()	behind that: when somebody may send; 0: nobody is held
 *	schedule_served()	it has used its turn: so many bytes were sent
 *	schedule_used()		or thrown away
 *	schedule_discards()	a DualQ, but the first, in which packets wait and to which no turn
 *				will come; NULL: there is none
 *	schedule_waits()	do packets wait in another one than the first
 *	schedule_is_lost()	has somebody taken away DualQs in which packets waited
 *
 *	counters_of()		where a queue is counted
 *	queue_bytes()		what waits in it, bytes; queue_bytes_behind() a packet that leaves
 *	schedule_ahead()	what leaves before a packet that comes to L, bytes: what waits in
 *				it, and what others send meanwhile
 *	schedule_forecast()	how long its DualQ holds back a packet that comes to L, ns
 *	schedule_overload()	the event that the overload of a DualQ is part of
 *	schedule_shown()	the DualQ whose state is in a row of the statistics
 *	schedule_publish()	what of that row is not its own, but of all
 *	schedule_marked()	what is counted of a DualQ alone: a packet that was marked
 *	schedule_dropped()	or dropped
 *	schedule_forwarded()	or forwarded, after so long, ns
 *
 * What one with few DualQs has no use for is in bpf/schedule/few.bpf.h. What those with many have
 * in common is in bpf/schedule/many.bpf.h.
 *
 * label, find, waits and shown run on any CPU without a lock, all else under that of the qdisc.
 * Number, limits, parameters, link and timer are the qdisc's; all else is the DualQ's.
 */
#ifndef SCHEDULE_BPF_H
#define SCHEDULE_BPF_H

/* All clocks are through by then. */
#define AT_ANY_TIME (~0ULL - 1)

struct schedule;
struct in_schedule;

#endif /* SCHEDULE_BPF_H */
