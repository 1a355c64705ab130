// SPDX-License-Identifier: GPL-2.0-only
/* An iterator of somebody else, over something else, that has the name of ours. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("iter/task")
int prague_report(void *ctx)
{
	return 0;
}
