/* SPDX-License-Identifier: GPL-2.0-only */
/* IPsec, as far as a packet tells of it. */
#ifndef SEC_PATH_BPF_H
#define SEC_PATH_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Does a packet carry a security path? It has been decrypted here, or is to be encrypted. */
static __always_inline bool has_security_path(const struct sk_buff *skb)
{
	return bpf_core_enum_value_exists(enum skb_ext_id, SKB_EXT_SEC_PATH) &&
	       skb->active_extensions & 1 << bpf_core_enum_value(enum skb_ext_id, SKB_EXT_SEC_PATH);
}

#endif /* SEC_PATH_BPF_H */
