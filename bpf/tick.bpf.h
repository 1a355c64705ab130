/* SPDX-License-Identifier: GPL-2.0-only */
/* The periodic work of an instance: the update of the AQM and the publication of the statistics.
 *
 * The timer sleeps while there is nothing to do (both queues empty, an idle AQM, no overload event
 * that has to end), so an idle link wakes nobody up; enqueue starts it again.
 * Nothing depends on the timer alone: the kernel cancels it when the last user-space reference to
 * its map goes, and then enqueue makes up for updates that are overdue. On a machine that has no
 * timers for BPF programs the watchdog of the qdisc is in its place: dequeue looks what is due.
 */
#ifndef TICK_BPF_H
#define TICK_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "clock.bpf.h"
#include "dualpi2.h"
#include "frames.bpf.h"
#include "instance.bpf.h"
#include "publish.bpf.h"
#include "turns.bpf.h"
#include "update.bpf.h"

/* Enqueue steps in when an update is late by this part of the period (2 ms of 16). */
#define OVERDUE_PART 8

/* While there are updates the watchdog looks at least so often, because dualpi2-load cannot tell it
 * that a period has become shorter.
 */
#define LOOK_NS (100 * DUALPI2_NSEC_PER_MSEC)

/* Has this machine no timers for BPF programs? dualpi2-load tries (has_timer.bpf.c) and sets it
 * before the programs are loaded, so the verifier removes what does not apply.
 */
const volatile bool without_timer SEC(DUALPI2_WITHOUT_TIMER);

/* The update, if it is due. It counts for those that were missed, but not for more than `most`: a
 * timer that is late saw a delay grow, which was not as long all the time.
 */
static __always_inline void tick(struct instance *in, u64 now, u64 most)
{
	u64 periods = claim_updates(&in->update_due_ns, aqm_period(&in->params), now);

	if (!periods)
		return;
	if (periods > most)
		periods = most;
	link_measure(in);
	schedule_params(in);
	if (link_updates(in, now, most, &periods))
		dualq_update(in->number, home_of(first_dualq(in)), now, periods);
	publish(in, now);
}

/* Let the timer fire one period from now. */
static __always_inline void timer_restart(struct instance *in, u64 now)
{
	u64 period = aqm_period(&in->params);

	in->overdue_ns = now + period + period / OVERDUE_PART;
	if (!without_timer)
		bpf_timer_start(&in->timer, period, 0);
}

/* A DualQ that catches up at its packets needs no timer while none waits. */
static __always_inline bool is_idle(struct instance *in)
{
	struct dualq *first = first_dualq(in);

	return !dualq_waits(first) && aqm_is_idle(first) && !is_overloaded(first) &&
	       !schedule_waits(in) && !schedule_overload(in, first)->active;
}

/* Nothing to do: let the timer sleep. An enqueue from now on sees 0 and starts the timer; one that
 * came before has made its DualQ busy, then the answer is false.
 */
static __always_inline bool timer_may_sleep(struct instance *in)
{
	if (!is_idle(in))
		return false;
	__sync_lock_test_and_set(&in->overdue_ns, 0);
	return is_idle(in);
}

/* What the timer is for. */
static __always_inline void timer_fired(struct instance *in, u64 now)
{
	tick(in, now, 1);
	if (!timer_may_sleep(in))
		timer_restart(in, now);
}

/* The same where there is no timer, when dequeue is called. Returns when it has to be called again:
 * `until_ns`, or earlier.
 */
static __noinline u64 tick_without_timer(struct instance *in, u64 now, u64 until_ns)
{
	u64 look_ns = now + LOOK_NS;

	if (in->overdue_ns && now >= in->update_due_ns)
		timer_fired(in, now);
	if (!in->overdue_ns)
		return until_ns;
	if (in->update_due_ns < look_ns)
		look_ns = in->update_due_ns;
	return look_ns < until_ns ? look_ns : until_ns;
}

/* Let the next update be one period from now. */
static __always_inline void tick_restart(struct instance *in, u64 now)
{
	in->update_due_ns = now + aqm_period(&in->params);
	timer_restart(in, now);
}

/* The timer sleeps, or it is late. */
static __noinline int tick_catch_up(struct instance *in, u64 now)
{
	if (in->overdue_ns)
		tick(in, now, ~0ULL);
	tick_restart(in, now);
	return 0;
}

/* A packet was queued: see to it that the timer runs, and that the AQM moves even if it
 * does not.
 */
static __always_inline void tick_wake(struct instance *in, u64 now)
{
	if (now >= in->overdue_ns)
		tick_catch_up(in, now);
}

#endif /* TICK_BPF_H */
