// SPDX-License-Identifier: GPL-2.0-only
/* Has this machine timers for BPF programs? Linux 6.18 and later allocates them with
 * kmalloc_nolock() (mm/slub.c), which takes a compare-and-exchange of two words: riscv64 has none.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "kernel.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct timed {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct timed);
} timers SEC(".maps");

/* Returns 0, or -errno. */
SEC("syscall")
int has_timer(void *unused)
{
	struct timed *timed = bpf_map_lookup_elem(&timers, &(u32){ 0 });

	return timed ? bpf_timer_init(&timed->timer, &timers, CLOCK_MONOTONIC) : -ENOENT;
}
