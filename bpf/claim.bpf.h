/* SPDX-License-Identifier: GPL-2.0-only */
/* Who makes an update that is due. */
#ifndef CLAIM_BPF_H
#define CLAIM_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* Updates that are due, of one in each period; 0: none is, or somebody else makes them. Timer and
 * packets may come at the same time; one of them wins the claim.
 */
static __always_inline u64 claim_updates(u64 *due_ns, u64 period_ns, u64 now)
{
	const u64 due = *due_ns;

	if (now < due || __sync_val_compare_and_swap(due_ns, due, now + period_ns) != due)
		return 0;
	return 1 + (now - due) / period_ns;
}

#endif /* CLAIM_BPF_H */
