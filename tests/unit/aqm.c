// SPDX-License-Identifier: GPL-2.0-only
/* The decisions of the BPF programs, classify() and bpf/pi2.bpf.h, compiled for user
 * space, for test_aqm.py. Of the kernel and of struct slot only what they touch is
 * here; the caller says what the queues hold.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdlib.h>

#include "dualpi2.h"
#include "laqm.h"
#include "pi2.h"
#include "aqm/pi2.h"
#include "shaper.h"

/* Not for this machine: what follows never calls what needs them. */
#define bpf_core_type_id_kernel(type) 0

/* The loop of the kernel's iterators */
#undef bpf_for
#define bpf_for(i, start, end) for ((i) = (start); (i) < (end); (i)++)

#include "kernel.bpf.h"

/* bpf/slot.bpf.h, without what only the kernel can hold */
struct slot {
	struct dualpi2_key key;
	u32 netns_inode;
	struct pi2_law law;
	u32 frame_len, link_header;
	u64 sure_delay_ns, last_delay_ns, l_marks, l_hits, c_hits;
	struct shaper shaper;
	u32 l_packets;
	u8 l_overload, c_overload;
	u8 flags_of_tos[256];
	u32 classes_under;
	struct dualpi2_stats stats;
};

static int dualpi2_events;
#define bpf_ringbuf_output(ring, data, size, flags) ((void)(ring), (void)(data))

#include "ecn.bpf.h"
#include "classify.bpf.h"
#include "pi2.bpf.h"

struct aqm {
	struct slot slot;
};

struct aqm *unit_aqm_new(const struct dualpi2_params *params, u32 mtu);
void unit_aqm_free(struct aqm *aqm);
void unit_aqm_set_prob(struct aqm *aqm, u32 prob);
u32 unit_aqm_update(struct aqm *aqm, u64 now);
bool unit_aqm_overload(const struct aqm *aqm);
void unit_aqm_set_queue(struct aqm *aqm, bool l, u64 packets, u64 bytes, u64 head_ns);
u32 unit_aqm_classify(const struct aqm *aqm, u8 tos);
u32 unit_aqm_mark(struct aqm *aqm, u8 tos, u64 now);
u32 unit_aqm_drop(struct aqm *aqm, u32 flags, u64 l_delay_ns);

struct aqm *unit_aqm_new(const struct dualpi2_params *params, u32 mtu)
{
	struct aqm *aqm = calloc(1, sizeof(*aqm));

	if (!aqm)
		abort();
	aqm->slot.frame_len = mtu;
	aqm->slot.stats.params = *params;
	classify_params(&aqm->slot, params, 0);
	aqm_params(&aqm->slot, params);
	aqm_reset(&aqm->slot);
	return aqm;
}

void unit_aqm_free(struct aqm *aqm)
{
	free(aqm);
}

void unit_aqm_set_prob(struct aqm *aqm, u32 prob)
{
	set_prob(&aqm->slot, prob);
}

u32 unit_aqm_update(struct aqm *aqm, u64 now)
{
	aqm_update(&aqm->slot, now);
	return aqm->slot.stats.prob;
}

bool unit_aqm_overload(const struct aqm *aqm)
{
	return aqm->slot.stats.overload.active;
}

void unit_aqm_set_queue(struct aqm *aqm, bool l, u64 packets, u64 bytes, u64 head_ns)
{
	struct dualpi2_queue *queue = l ? &aqm->slot.stats.l : &aqm->slot.stats.c;

	if (l)
		aqm->slot.l_packets = packets;
	queue->bytes_in = bytes;
	queue->head_ns = head_ns;
}

u32 unit_aqm_classify(const struct aqm *aqm, u8 tos)
{
	return classify(&aqm->slot, tos, 0);
}

u32 unit_aqm_mark(struct aqm *aqm, u8 tos, u64 now)
{
	u32 flags = unit_aqm_classify(aqm, tos);

	if (!(flags & PACKET_MARKABLE) || !aqm_may_mark(&aqm->slot))
		return MARK_NONE;
	return aqm_mark(&aqm->slot, flags, now);
}

u32 unit_aqm_drop(struct aqm *aqm, u32 flags, u64 l_delay_ns)
{
	bool in_l = flags & PACKET_L;

	return aqm_may_drop(&aqm->slot, in_l, flags) ? aqm_drop(&aqm->slot, in_l, flags, l_delay_ns)
						     : DROP_NONE;
}
