/* SPDX-License-Identifier: GPL-2.0-only */
/* Overload events (RFC 9332, 2.5.2.3): when they begin and end, and who is told. */
#ifndef OVERLOAD_BPF_H
#define OVERLOAD_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "instance.bpf.h"
#include "maps.bpf.h"
#include "turns.bpf.h"

static u64 events_told; /* by all qdiscs of this AQM */

/* Tell those who follow. One who comes too late finds another event in its place; the statistics
 * still count it. The exchanges are full barriers.
 */
static __always_inline void overload_report(const struct instance *in,
					    const struct dualpi2_overload *overload, bool ended)
{
	const u64 number = __sync_fetch_and_add(&events_told, 1) + 1;
	const u32 place = number % DUALPI2_EVENTS;
	struct dualpi2_event *event = bpf_map_lookup_elem(&dualpi2_events, &place);

	if (!event)
		return; /* the verifier does not know that there is always one */
	__sync_lock_test_and_set(&event->begun, number);
	event->key = in->key;
	event->ended = ended;
	event->netns = in->netns_inode;
	event->start_ns = overload->start_ns;
	event->duration_ns = overload->duration_ns;
	__builtin_memcpy(event->ifname, in->ifname, sizeof(event->ifname));
	__sync_lock_test_and_set(&event->number, number);
}

enum overload_change {
	OVERLOAD_GOES_ON, /* or none does */
	OVERLOAD_BEGAN,
	OVERLOAD_ENDED,
};

/* How long after the end of an event so far, ns. Where several DualQs have one event it may have
 * gone on, for another one, a moment later than `now`: less than 0.
 */
static __always_inline s64 overload_since(const struct dualpi2_overload *overload, u64 now)
{
	return now - overload->start_ns - overload->duration_ns;
}

/* Overload begins at once and is over when none was seen for a while: no flapping. Where several
 * DualQs have one event, of two CPUs that see it begin one does.
 */
static __always_inline enum overload_change overload_move(struct dualpi2_overload *overload,
							  bool is_saturated, u64 now)
{
	enum overload_change change = OVERLOAD_GOES_ON;
	s64 since;

	if (is_saturated) {
		if (!overload->active) {
			overload->start_ns = now;
			overload->duration_ns = 0;
			if (!__sync_val_compare_and_swap(&overload->active, 0, 1)) {
				overload->events++;
				change = OVERLOAD_BEGAN;
			}
		}
		since = overload_since(overload, now);
		if (since > 0) {
			overload->total_ns += since;
			overload->duration_ns += since;
		}
	} else if (overload->active &&
		   overload_since(overload, now) >= (s64)DUALPI2_OVERLOAD_HOLD_NS) {
		overload->active = 0;
		change = OVERLOAD_ENDED;
	}
	return change;
}

static __always_inline void overload_update(struct instance *in, struct dualq *q, bool is_saturated,
					    u64 now)
{
	struct dualpi2_overload *own = overload_of(q), *told = schedule_overload(in, q);
	enum overload_change change;

	if (told != own)
		overload_move(own, is_saturated, now);
	change = overload_move(told, is_saturated, now);
	if (change != OVERLOAD_GOES_ON)
		overload_report(in, told, change == OVERLOAD_ENDED);
}

#endif /* OVERLOAD_BPF_H */
