/* SPDX-License-Identifier: GPL-2.0-only */
/* Overload events (RFC 9332, 2.5.2.3): when they begin and end, and who is told. */
#ifndef OVERLOAD_BPF_H
#define OVERLOAD_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "instance.bpf.h"
#include "maps.bpf.h"

/* Tell those who follow the ring buffer. One that is full loses events, which the
 * statistics still count.
 */
static __always_inline void overload_report(const struct instance *in, bool ended)
{
	const struct dualpi2_overload *overload = &in->dualq.overload;
	struct dualpi2_event event = {
		.key = in->key,
		.ended = ended,
		.netns = in->netns_inode,
		.start_ns = overload->start_ns,
		.duration_ns = overload->duration_ns,
	};

	__builtin_memcpy(event.ifname, in->ifname, sizeof(event.ifname));
	bpf_ringbuf_output(&dualpi2_events, &event, sizeof(event), 0);
}

/* Overload begins at once and is over when none was seen for a while: no flapping. */
static __always_inline void overload_update(struct instance *in, struct dualpi2_overload *overload,
					    bool is_saturated, u64 now)
{
	if (is_saturated) {
		if (!overload->active) {
			overload->active = 1;
			overload->events++;
			overload->start_ns = now;
			overload->duration_ns = 0;
			overload_report(in, false);
		}
		overload->total_ns += now - overload->start_ns - overload->duration_ns;
		overload->duration_ns = now - overload->start_ns;
	} else if (overload->active &&
		   now - overload->start_ns - overload->duration_ns >= DUALPI2_OVERLOAD_HOLD_NS) {
		overload->active = 0;
		overload_report(in, true);
	}
}

#endif /* OVERLOAD_BPF_H */
