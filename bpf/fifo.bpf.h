/* SPDX-License-Identifier: GPL-2.0-only */
/* The two FIFOs of a DualQ: lists of blocks of packets.
 *
 * List operations, the lock that they need and the node that they link cost as much as all
 * other work on a packet. So a node holds not one packet but a block of them. The
 * block that is being filled and the one that is being emptied stay at hand in kptrs, where
 * taking one out and putting it back is an exchange each, without a lock; those in between
 * are in the list:
 *
 *	head -> list of full blocks -> tail
 *
 * While all packets fit one block it is the tail, for both ends. A packet that finds its FIFO
 * empty needs no block at all: there is a place for one in front of them. So it and six of
 * seven others cost no list operation.
 *
 * Free blocks are the instance's. Their list is under the lock of its DualQ, because the value of a
 * map can have but one; other DualQs (schedule.bpf.h) come to it separately.
 */
#ifndef FIFO_BPF_H
#define FIFO_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "instance.bpf.h"
#include "kernel.bpf.h"
#include "verifier.bpf.h"

/* Blocks that an instance keeps for reuse: 32 KiB. */
#define FREE_BLOCKS_MAX 128

static __always_inline struct bpf_list_head *blocks_of(struct dualq *q, const struct fifo *fifo)
{
	return fifo == &q->l ? &q->l_blocks : &q->c_blocks;
}

static __always_inline struct packet *packet_at(struct dualpi2_block *block, u64 n)
{
	struct packet *packet = block->packet;

	ADVANCE_IN_BRANCHES(packet, n);
	return packet;
}

/* Put a block in its place, or NULL. What is there (nothing, but for fifo_clear()) is given
 * back to the kernel, with the packets in it.
 */
static __always_inline void put_block(struct dualpi2_block **place, struct dualpi2_block *block)
{
	struct dualpi2_block *old = bpf_kptr_xchg(place, block);

	if (old)
		obj_drop(old);
}

/* Put a packet in its place. What is there (nothing, but for fifo_clear()) is thrown away. */
static __always_inline void put_skb(struct sk_buff **place, struct sk_buff *skb)
{
	struct sk_buff *old = bpf_kptr_xchg(place, skb);

	if (old)
		bpf_kfree_skb(old);
}

/* ---- free blocks ------------------------------------------------------------------ */

/* Take a free block; NULL: there is none. For one of several DualQs: a single one does it while it
 * has its lock anyway.
 */
static __always_inline struct bpf_list_node *take_free(struct instance *in)
{
	struct dualq *first = first_dualq(in);
	struct bpf_list_node *free;

	bpf_spin_lock(&first->lock);
	free = bpf_list_pop_front(&in->free_blocks);
	bpf_spin_unlock(&first->lock);
	return free;
}

/* Give it back. */
static __always_inline void give_free(struct instance *in, struct dualpi2_block *empty)
{
	struct dualq *first = first_dualq(in);

	bpf_spin_lock(&first->lock);
	list_push_back(&in->free_blocks, &empty->list);
	bpf_spin_unlock(&first->lock);
}

/* ---- push ------------------------------------------------------------------------ */

/* The block that is being filled is full, or there is none: an empty one takes its place.
 * NULL: no memory.
 */
static __noinline struct dualpi2_block *next_tail(struct instance *in, struct dualq *q,
						  struct fifo *fifo, struct dualpi2_block *full)
{
	struct bpf_list_head *blocks = blocks_of(q, fifo);
	struct bpf_list_node *free;

	if (full && !fifo->full_blocks++) {
		put_block(&fifo->head, full);
		full = NULL;
	}
	bpf_spin_lock(&q->lock);
	if (full)
		list_push_back(blocks, &full->list);
	free = SEVERAL ? NULL : bpf_list_pop_front(&in->free_blocks);
	bpf_spin_unlock(&q->lock);

	if (SEVERAL)
		free = take_free(in);
	if (!free)
		return obj_new(struct dualpi2_block);
	in->n_free--;
	return container_of(free, struct dualpi2_block, list);
}

/* The block with a place for one more packet, and which place. NULL: no memory. */
static __always_inline struct dualpi2_block *take_tail(struct instance *in, struct dualq *q,
						       struct fifo *fifo, u64 *at)
{
	struct dualpi2_block *block = bpf_kptr_xchg(&fifo->tail, NULL);

	*at = fifo->end;
	if (block && *at < BLOCK_PACKETS)
		return block;
	*at = 0;
	return next_tail(in, q, fifo, block);
}

/* Append a packet. Returns false if there is no memory; else the packet is consumed. An empty FIFO
 * needs none. It is no longer empty before the packet is in its place, and the exchange that puts
 * it there is a memory barrier: timer_fires() looks at the FIFO and at overdue_ns in the other
 * order than enqueue.
 */
static __always_inline bool push(struct instance *in, struct dualq *q, struct fifo *fifo,
				 struct sk_buff *skb, u64 now, const struct packet_info *info,
				 struct slot slot)
{
	struct dualpi2_block *block;
	struct packet *packet;
	u64 at;

	if (!fifo_waits(fifo)) {
		fifo->head_ns = now;
		fifo->second_ns = 0;
		fifo->head_slot = slot;
		fifo->lone.info = *info;
		put_skb(&fifo->lone.skb, skb);
		return true;
	}
	block = take_tail(in, q, fifo, &at);
	if (!block)
		return false;
	if (!fifo->second_ns) {
		fifo->second_ns = now;
		fifo->second_slot = slot;
	}
	packet = packet_at(block, at);
	packet->enqueued_ns = now;
	packet->info = *info;
	packet->slot = slot;
	put_skb(&packet->skb, skb);
	fifo->end = at + 1;
	put_block(&fifo->tail, block);
	return true;
}

/* ---- pop ------------------------------------------------------------------------- */

/* Take a packet out of its block. */
static __always_inline struct sk_buff *take_out(struct packet *packet, struct packet_info *info)
{
	*info = packet->info;
	return bpf_kptr_xchg(&packet->skb, NULL);
}

/* The block at the head is empty: the next one takes its place. Returns when the packet
 * was enqueued that is the first now, and its slot; 0: there is none.
 */
static __noinline u64 next_head(struct instance *in, struct dualq *q, struct fifo *fifo,
				struct dualpi2_block *empty, struct slot *slot)
{
	struct bpf_list_head *blocks = blocks_of(q, fifo);
	struct bpf_list_node *next;
	struct dualpi2_block *block;
	u64 enqueued_ns;

	if (in->n_free >= FREE_BLOCKS_MAX) {
		obj_drop(empty);
		empty = NULL;
	}
	bpf_spin_lock(&q->lock);
	next = bpf_list_pop_front(blocks);
	if (empty && !SEVERAL)
		list_push_back(&in->free_blocks, &empty->list);
	bpf_spin_unlock(&q->lock);

	if (empty) {
		if (SEVERAL)
			give_free(in, empty);
		in->n_free++;
	}
	fifo->full_blocks--;
	fifo->first = 0;
	block = next ? container_of(next, struct dualpi2_block, list)
		     : bpf_kptr_xchg(&fifo->tail, NULL);
	if (!block)
		return 0;
	enqueued_ns = block->packet[0].enqueued_ns;
	*slot = block->packet[0].slot;
	put_block(next ? &fifo->head : &fifo->tail, block);
	return enqueued_ns;
}

/* Take the last packet of the block at the head. `*next_ns`, `*slot`: as in pop(). */
static __always_inline struct sk_buff *pop_last(struct instance *in, struct dualq *q,
						struct fifo *fifo, struct dualpi2_block *block,
						u64 *next_ns, struct slot *slot,
						struct packet_info *info)
{
	struct sk_buff *skb = take_out(&block->packet[BLOCK_PACKETS - 1], info);

	if (fifo->full_blocks) {
		*next_ns = next_head(in, q, fifo, block, slot);
	} else {
		fifo->first = 0;
		fifo->end = 0;
		*next_ns = 0;
		put_block(&fifo->tail, block);
	}
	return skb;
}

/* Take the first packet of the blocks; NULL if there is none. */
static __always_inline struct sk_buff *pop_block(struct instance *in, struct dualq *q,
						 struct fifo *fifo, u64 *next_ns, struct slot *slot,
						 struct packet_info *info)
{
	struct dualpi2_block **place = fifo->full_blocks ? &fifo->head : &fifo->tail;
	struct dualpi2_block *block = bpf_kptr_xchg(place, NULL);
	u64 first = fifo->first;
	struct packet *packet;
	struct sk_buff *skb;

	if (!block)
		return NULL;
	if (first >= BLOCK_PACKETS - 1)
		return pop_last(in, q, fifo, block, next_ns, slot, info);
	packet = packet_at(block, first);
	skb = take_out(packet, info);
	*next_ns = packet[1].enqueued_ns;
	*slot = packet[1].slot;
	first++;
	if (!fifo->full_blocks && first == fifo->end) {
		first = 0;
		fifo->end = 0;
		*next_ns = 0;
	}
	fifo->first = first;
	put_block(place, block);
	return skb;
}

/* Take the first packet; NULL if there is none. */
static __always_inline struct sk_buff *pop(struct instance *in, struct dualq *q, struct fifo *fifo,
					   struct packet_info *info)
{
	struct sk_buff *skb = bpf_kptr_xchg(&fifo->lone.skb, NULL);
	u64 next_ns = 0; /* when the packet behind it was enqueued; 0: there is none */
	struct slot slot = {};

	if (skb) {
		*info = fifo->lone.info;
		next_ns = fifo->second_ns;
		slot = fifo->second_slot;
	} else if (fifo_waits(fifo)) {
		skb = pop_block(in, q, fifo, &next_ns, &slot, info);
	}
	fifo->head_ns = next_ns;
	fifo->head_slot = slot;
	return skb;
}

/* ---- the end --------------------------------------------------------------------- */

/* Give up to `most` blocks of a list back to the kernel, with the packets in them. */
static __always_inline void drain(struct dualq *q, struct bpf_list_head *blocks, u32 most)
{
	struct bpf_list_node *block;
	u32 i;

	bpf_for(i, 0, most) {
		bpf_spin_lock(&q->lock);
		block = bpf_list_pop_front(blocks);
		bpf_spin_unlock(&q->lock);
		if (!block)
			break;
		obj_drop(container_of(block, struct dualpi2_block, list));
	}
}

/* Throw away all that a FIFO holds, and its blocks. */
static __always_inline void fifo_clear(struct dualq *q, struct fifo *fifo)
{
	put_skb(&fifo->lone.skb, NULL);
	put_block(&fifo->head, NULL);
	drain(q, blocks_of(q, fifo), DUALPI2_LIMIT_MAX / BLOCK_PACKETS + 1);
	put_block(&fifo->tail, NULL);
	fifo->head_ns = 0;
	fifo->full_blocks = 0;
	fifo->first = 0;
	fifo->end = 0;
}

static __always_inline void free_blocks_drain(struct instance *in)
{
	drain(first_dualq(in), &in->free_blocks, FREE_BLOCKS_MAX);
	in->n_free = 0;
}

#endif /* FIFO_BPF_H */
