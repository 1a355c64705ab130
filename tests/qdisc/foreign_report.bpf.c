// SPDX-License-Identifier: GPL-2.0-only
/* Somebody else's iterator, over something else, with the name of ours. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("iter/task")
int prague_report(void *ctx)
{
	return 0;
}
