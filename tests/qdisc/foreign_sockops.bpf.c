// SPDX-License-Identifier: GPL-2.0-only
/* Programs of somebody else on a control group, which must go on to be asked. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* As the kernel's own samples: an answer to one question, and -1 to all others. */
SEC("sockops")
int foreign_window(struct bpf_sock_ops *ops)
{
	ops->reply = ops->op == BPF_SOCK_OPS_RWND_INIT ? 40 : -1;
	return 1;
}

/* Knows a base RTT itself. */
SEC("sockops")
int foreign_base_rtt(struct bpf_sock_ops *ops)
{
	if (ops->op == BPF_SOCK_OPS_BASE_RTT)
		ops->reply = 48000;
	return 1;
}
