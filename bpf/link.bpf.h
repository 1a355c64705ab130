/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract between the queues of a qdisc and the link behind them.
 *
 * Each bpf/link/NAME.bpf.h is a link, chosen with LINK_H. It has
 *
 *	LINK_KIND		the kind of its qdiscs, if they have one DualQ (schedule.bpf.h)
 *	struct link_clock	its state in each qdisc
 *	struct on_link		and what every CPU reads of it
 *	struct slot		what a packet that waits remembers of it
 *	LINK_CLOCK_H		the header with these functions (clock.bpf.h)
 *
 *	link_join()		a qdisc begins, with its parameters; under RTNL
 *	link_leave()		it ends; under RTNL
 *	link_set_rate()		the rate may be another one than before
 *	link_start_empty()	nothing waits in a qdisc; link_forgets(): nor for this link
 *
 *	link_enter()		a packet is about to be queued: its slot
 *	link_turn_back()	it was not: no memory
 *	link_wake()		it is queued now
 *	link_is_free()		may a packet leave now
 *	link_look()		if not: when to look again
 *	link_looks()		does it so long before that without being told
 *	link_lets()		may the head of a queue leave, once link_is_free() has said yes
 *	link_charge()		a packet leaves
 *	link_charge_lost()	one is dropped, which has used the link if it came through it
 *	link_discarded()	some were dropped that had been queued
 *	link_throw_away()	all that waits is about to be thrown away
 *
 *	link_hold(), link_release()	a packet waits from now on, or no more
 *	held_packets(), held_memory()	what waits, for the limits
 *	link_drops_early()	does the AQM drop packets as they arrive
 *	link_updates()		does this qdisc make the updates of the AQM that are due
 *
 * and l_forecast(), l_packets(), backlog_bytes(), oldest_age(), coupled_of(), aqm_of(),
 * overload_of() and updates_of(), which say whose they are: of a qdisc, or of a link that several
 * have.
 *
 * join and leave run under RTNL. link_set_rate(), link_updates(), aqm_of() and its like run on any
 * CPU without a lock, all else under that of the qdisc.
 */
#ifndef LINK_BPF_H
#define LINK_BPF_H

#include "aqm.bpf.h"

struct link_clock;
struct on_link;
struct slot;

#endif /* LINK_BPF_H */
