// SPDX-License-Identifier: GPL-2.0-only
/* A tcx program of somebody else: it does nothing, and must be left alone. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tcx/egress")
int foreign(struct __sk_buff *skb)
{
	return TCX_NEXT;
}
