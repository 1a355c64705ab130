// SPDX-License-Identifier: GPL-2.0-only
/* A tcx program of somebody else, which must be left alone. It counts what it sees, and
 * writes where others might hope to leave a note.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} foreign_count SEC(".maps");

SEC("tcx/egress")
int foreign(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&foreign_count, &zero);

	if (count)
		(*count)++;
	for (int i = 0; i < 5; i++)
		skb->cb[i] = 0x464f5245;
	skb->mark = 0x464f5245;
	return TCX_NEXT;
}
