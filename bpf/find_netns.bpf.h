/* SPDX-License-Identifier: GPL-2.0-only */
/* Is there a network namespace with this cookie? The kernel has no call that tells. */
#ifndef FIND_NETNS_BPF_H
#define FIND_NETNS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "find_netns.h"
#include "kernel.bpf.h"

/* For a program of type "tc". The cookie comes as the packet of a test run, which is on the
 * loopback device of the caller's namespace (net/bpf/test_run.c); from there the kernel's list
 * leads to all others and back. Its head is no namespace, but can be read as one. Returns enum
 * netns_answer.
 */
static __always_inline int find_netns(struct __sk_buff *ctx)
{
	const struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);
	const struct net *first = device_of(skb)->nd_net.net, *net = first;
	u64 cookie;
	u32 i;

	if (bpf_skb_load_bytes(ctx, 0, &cookie, sizeof(cookie)))
		return NETNS_UNKNOWN;
	bpf_for(i, 0, NETNS_LOOKED_THROUGH) {
		if (net->net_cookie == cookie)
			return NETNS_FOUND;
		net = bpf_rdonly_cast((void *)net->list.next -
					      bpf_core_field_offset(struct net, list),
				      bpf_core_type_id_kernel(struct net));
		if (net == first)
			return NETNS_NONE;
	}
	return NETNS_UNKNOWN;
}

#endif /* FIND_NETNS_BPF_H */
