/* SPDX-License-Identifier: GPL-2.0-only */
/* The periodic work of an instance: the PI2 update and the publication of its
 * statistics.
 *
 * The timer sleeps while there is nothing to do (both queues empty, p' = 0, no
 * overload event that has to end), so an idle link wakes nobody up; enqueue starts it again.
 * Nothing depends on the timer alone: the kernel cancels it when the last user-space reference to
 * its map goes, and then enqueue makes up for updates that are overdue.
 */
#ifndef TICK_BPF_H
#define TICK_BPF_H

/* Enqueue steps in when an update is late by this part of tupdate (2 ms of 16). */
#define OVERDUE_PART 8

/* Has another qdisc taken this one's place? On a replacement the new one starts, with the same
 * key, before the old one is reset and destroyed.
 */
static __always_inline bool is_replaced(const struct slot *slot)
{
	return slot_at(&slot->key) != slot;
}

static __always_inline void unpublish(const struct dualpi2_key *key)
{
	bpf_map_delete_elem(&dualpi2_stats, key);
	bpf_map_delete_elem(&dualpi2_delays, key);
}

static __always_inline void publish(struct slot *slot, u64 now)
{
	struct dualpi2_queue *l = &slot->stats.l, *c = &slot->stats.c;
	const struct dualpi2_key key = slot->key;

	if (is_replaced(slot))
		return;
	l->backlog_packets = dualpi2_queue_packets(l);
	l->backlog_bytes = dualpi2_queue_bytes(l);
	c->backlog_packets = dualpi2_queue_packets(c);
	c->backlog_bytes = dualpi2_queue_bytes(c);
	slot->stats.refreshed_ns = now;
	bpf_map_update_elem(&dualpi2_stats, &key, &slot->stats, BPF_ANY);
	bpf_map_update_elem(&dualpi2_delays, &key, &slot->delays, BPF_ANY);
	/* A tool may have come here while the qdisc was destroyed on another CPU. */
	if (!slot_at(&key))
		unpublish(&key);
}

/* The length of a full frame, of which others make their own figures: an MTU may change
 * at any time.
 */
static __always_inline void set_frame_len(struct slot *slot)
{
	const struct net_device *dev = device_below((const struct Qdisc *)slot->qdisc);

	slot->frame_len = frame_len(dev);
	slot->link_header = dev->hard_header_len;
	slot->fresh_credit =
		scheduler_reset(slot->stats.params.classic_protection, slot->frame_len);
}

/* The update, if it is due. Timer and enqueue may come at the same time; one of them
 * wins the claim.
 */
static __always_inline void tick(struct slot *slot, u64 now)
{
	u64 due = slot->update_due_ns;

	if (now < due)
		return;
	if (__sync_val_compare_and_swap(&slot->update_due_ns, due,
					now + aqm_own(&slot->stats.params)->tupdate_ns) != due)
		return;
	set_frame_len(slot);
	aqm_update(slot, now);
	publish(slot, now);
}

/* Let the timer fire one tupdate from now. */
static __always_inline void timer_restart(struct slot *slot, u64 now)
{
	u64 tupdate = aqm_own(&slot->stats.params)->tupdate_ns;

	slot->overdue_ns = now + tupdate + tupdate / OVERDUE_PART;
	bpf_timer_start(&slot->timer, tupdate, 0);
}

static __always_inline bool is_idle(const struct slot *slot)
{
	return !slot->stats.l.head_ns && !slot->stats.c.head_ns && !slot->stats.prob &&
	       !slot->stats.overload.active;
}

static int timer_fires(void *map, u32 *number, struct slot *slot)
{
	u64 now = bpf_ktime_get_ns();

	if (!slot->qdisc)
		return 0;
	tick(slot, now);
	if (is_idle(slot)) {
		/* An enqueue from now on sees 0 and starts the timer; one that came
		 * before has made the slot busy.
		 */
		__sync_lock_test_and_set(&slot->overdue_ns, 0);
		if (is_idle(slot))
			return 0;
	}
	timer_restart(slot, now);
	return 0;
}

/* Let the next update be one tupdate from now. */
static __always_inline void tick_restart(struct slot *slot, u64 now)
{
	slot->update_due_ns = now + aqm_own(&slot->stats.params)->tupdate_ns;
	timer_restart(slot, now);
}

/* The timer sleeps, or it is late. */
static __noinline int tick_catch_up(struct slot *slot, u64 now)
{
	if (slot->overdue_ns)
		tick(slot, now);
	tick_restart(slot, now);
	return 0;
}

/* A packet was queued: see to it that the timer runs, and that p' moves even if it
 * does not.
 */
static __always_inline void tick_wake(struct slot *slot, u64 now)
{
	if (now >= slot->overdue_ns)
		tick_catch_up(slot, now);
}

#endif /* TICK_BPF_H */
