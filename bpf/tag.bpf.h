/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tcx program tells enqueue about a packet: writer and reader.
 *
 * It travels in the 20 bytes of skb->cb that are the qdisc's. Other programs and qdiscs write there
 * too, hence `check`: it says that this is a tag, and for which instance.
 */
#ifndef TAG_BPF_H
#define TAG_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "aqm.bpf.h"
#include "classify.bpf.h"
#include "ecn.bpf.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "maps.bpf.h"
#include "turns.bpf.h"

struct tag {
	u64 now_ns; /* when it was written, which counts as the packet's arrival */
	u32 check;
	u16 packets; /* on the wire */
	u16 flags;   /* PACKET_*, and enum mark from TAG_MARK_SHIFT on */
};

#define TAG_MARK_SHIFT 14
_Static_assert(MARK_GUARD < 1 << (16 - TAG_MARK_SHIFT), "two bits are enough");
_Static_assert(PACKET_SPACED < 1 << TAG_MARK_SHIFT, "and no flag");

/* Behind the tag, as a member would make it 24 bytes long: aqm_note(), or schedule_label() where a
 * qdisc has several DualQs.
 */
static __always_inline u32 *word_behind(const struct tag *tag)
{
	return (u32 *)(tag + 1);
}

_Static_assert(!AQM_HAS_NOTES || !SEVERAL, "there is room for one of them");

/* The kernel copies nothing: both names mean the same bytes (include/linux/filter.h,
 * bpf_skb_cb(); net/core/filter.c, bpf_convert_ctx_access()).
 */
_Static_assert(sizeof(struct tag) + sizeof(u32) <= sizeof(((struct __sk_buff *)0)->cb), "fits");
_Static_assert(sizeof(((struct __sk_buff *)0)->cb) == sizeof(((struct qdisc_skb_cb *)0)->data),
	       "tcx programs write qdisc_skb_cb.data");

/* The check of a tag from its instance's number, and the number (if any) from a check. */
static __always_inline u32 tag_check(u32 number, u64 now_ns)
{
	return number ^ (u32)now_ns ^ 0x4c345321; /* "L4S!" */
}

static __always_inline void tag_write(struct __sk_buff *ctx, const struct instance *in,
				      const struct arrival *arrival, u32 label, enum mark mark)
{
	struct tag *tag = (struct tag *)ctx->cb;

	tag->now_ns = arrival->now;
	tag->check = tag_check(in->number, arrival->now);
	tag->packets = arrival->packets;
	tag->flags = arrival->flags | mark << TAG_MARK_SHIFT;
	if (AQM_HAS_NOTES)
		*word_behind(tag) = arrival->note;
	if (SEVERAL)
		*word_behind(tag) = label;
}

static __always_inline enum mark tag_mark(const struct tag *tag)
{
	return tag->flags >> TAG_MARK_SHIFT;
}

static __always_inline u32 tag_note(const struct tag *tag)
{
	return *word_behind(tag);
}

static __always_inline u32 tag_label(const struct tag *tag)
{
	return SEVERAL ? *word_behind(tag) : 0;
}

/* A packet that did not pass our tcx program (it is not attached, or the packet took a way
 * around it): its headers are read here, and the AQM can only drop it.
 */
static __noinline int tag_late(struct instance *in, struct sk_buff *skb)
{
	struct tag *tag = (void *)qdisc_skb_cb(skb)->data;
	struct bpf_dynptr frame;
	struct ip_header ip;

	bpf_dynptr_from_skb((struct __sk_buff *)skb, 0, &frame);
	ip_search(&frame, skb, &ip);
	tag->now_ns = bpf_ktime_get_ns();
	tag->packets = wire_packets(skb);
	tag->flags = classify(in, ip.tos, skb->priority) | PACKET_NOT_ECT | PACKET_UNTAGGED;
	if (AQM_HAS_NOTES)
		*word_behind(tag) = 0;
	if (SEVERAL)
		*word_behind(tag) = schedule_label_late(in, &frame, &ip);
	return 0;
}

/* Is that the number of another queue of this mq? */
static __always_inline bool is_neighbour(const struct instance *in, u32 number)
{
	const struct instance *other = instance_by_number(number);

	return other && other->qdisc && other->key.ifindex == in->key.ifindex &&
	       other->key.netns == in->key.netns;
}

static __always_inline const struct tag *tag_read(struct instance *in, struct sk_buff *skb)
{
	const struct tag *tag = (const void *)qdisc_skb_cb(skb)->data;
	u32 number = tag_check(tag->check, tag->now_ns);

	if (number == in->number)
		return tag;
	if (is_neighbour(in, number)) {
		in->mispredicted++;
		return tag;
	}
	in->bypassed_tcx++;
	tag_late(in, skb);
	return tag;
}

#endif /* TAG_BPF_H */
