// SPDX-License-Identifier: GPL-2.0-only
/* A tcx program of somebody else that lets no other one see a packet. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tcx/egress")
int foreign_end(struct __sk_buff *skb)
{
	return TCX_PASS;
}
