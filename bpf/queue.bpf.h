/* SPDX-License-Identifier: GPL-2.0-only */
/* The two queues of an instance: lists of blocks of packets.
 *
 * List operations, the lock that they need and the node that they link cost as much as all
 * other work on a packet. So a node holds not one packet but a block of them. The
 * block that is being filled and the one that is being emptied stay at hand in kptrs, where
 * taking one out and putting it back is an exchange each, without a lock; those in between
 * are in the list:
 *
 *	head -> list of full blocks -> tail
 *
 * While all packets fit one block it is the tail, for both ends. A packet that finds its queue
 * empty needs no block at all: there is a place for one in front of them. So it and six of
 * seven others cost no list operation.
 */
#ifndef QUEUE_BPF_H
#define QUEUE_BPF_H

/* Blocks that an instance keeps for reuse: 32 KiB. */
#define FREE_BLOCKS_MAX 128

/* The n-th packet of a block. The verifier wants the place of a kptr to be a constant, so
 * it is added up in branches, each of which it follows.
 */
static __always_inline struct packet *packet_at(struct dualpi2_block *block, u64 n)
{
	struct packet *packet = block->packet;

	asm volatile("if %[n] < 4 goto +2\n"
		     "%[packet] += %[four]\n"
		     "%[n] += -4\n"
		     "if %[n] < 2 goto +2\n"
		     "%[packet] += %[two]\n"
		     "%[n] += -2\n"
		     "if %[n] < 1 goto +1\n"
		     "%[packet] += %[one]\n"
		     : [packet] "+r"(packet), [n] "+r"(n)
		     : [four] "i"(4 * sizeof(*packet)), [two] "i"(2 * sizeof(*packet)),
		       [one] "i"(sizeof(*packet)));
	return packet;
}

static __always_inline struct bpf_list_head *blocks_of(struct slot *slot, const struct queue *queue)
{
	return queue == &slot->l ? &slot->l_blocks : &slot->c_blocks;
}

/* Put a block in its place, or NULL. What is there (nothing, but for queue_clear()) is given
 * back to the kernel, with the packets in it.
 */
static __always_inline void put_block(struct dualpi2_block **place, struct dualpi2_block *block)
{
	struct dualpi2_block *old = bpf_kptr_xchg(place, block);

	if (old)
		obj_drop(old);
}

/* The block that is being filled is full, or there is none: an empty one takes its place.
 * NULL: no memory.
 */
static __noinline struct dualpi2_block *next_tail(struct slot *slot, struct queue *queue,
						  struct dualpi2_block *full)
{
	struct bpf_list_head *blocks = blocks_of(slot, queue);
	struct bpf_list_node *free;

	if (full && !queue->full_blocks++) {
		put_block(&queue->head, full);
		full = NULL;
	}
	bpf_spin_lock(&slot->lock);
	if (full)
		list_push_back(blocks, &full->list);
	free = bpf_list_pop_front(&slot->free_blocks);
	bpf_spin_unlock(&slot->lock);

	if (!free)
		return obj_new(struct dualpi2_block);
	slot->n_free--;
	return container_of(free, struct dualpi2_block, list);
}

/* The block with a place for one more packet, and which place. NULL: no memory. */
static __always_inline struct dualpi2_block *take_tail(struct slot *slot, struct queue *queue,
						       u64 *at)
{
	struct dualpi2_block *block = bpf_kptr_xchg(&queue->tail, NULL);

	*at = queue->end;
	if (block && *at < BLOCK_PACKETS)
		return block;
	*at = 0;
	return next_tail(slot, queue, block);
}

/* Put a packet in its place. What is there (nothing, but for queue_clear()) is thrown away. */
static __always_inline void put_skb(struct sk_buff **place, struct sk_buff *skb)
{
	struct sk_buff *old = bpf_kptr_xchg(place, skb);

	if (old)
		bpf_kfree_skb(old);
}

/* Append a packet. `head_ns`: enqueue time of the first one, 0 if the queue is empty. Returns
 * false if there is no memory; else the packet is consumed.
 */
static __always_inline bool push(struct slot *slot, struct queue *queue, u64 head_ns,
				 struct sk_buff *skb, u64 now, const struct packet_info *info)
{
	struct dualpi2_block *block;
	struct packet *packet;
	u64 at;

	if (!head_ns) {
		queue->second_ns = 0;
		queue->lone.info = *info;
		put_skb(&queue->lone.skb, skb);
		return true;
	}
	block = take_tail(slot, queue, &at);
	if (!block)
		return false;
	if (!queue->second_ns)
		queue->second_ns = now;
	packet = packet_at(block, at);
	packet->enqueued_ns = now;
	packet->info = *info;
	put_skb(&packet->skb, skb);
	queue->end = at + 1;
	put_block(&queue->tail, block);
	return true;
}

/* Take a packet out of its block. */
static __always_inline struct sk_buff *take_out(struct packet *packet, struct packet_info *info)
{
	*info = packet->info;
	return bpf_kptr_xchg(&packet->skb, NULL);
}

/* The block at the head is empty: the next one takes its place. Returns when the packet
 * was enqueued that is the first now; 0: there is none.
 */
static __noinline u64 next_head(struct slot *slot, struct queue *queue, struct dualpi2_block *empty)
{
	struct bpf_list_head *blocks = blocks_of(slot, queue);
	struct bpf_list_node *next;
	struct dualpi2_block *block;
	u64 enqueued_ns;

	if (slot->n_free >= FREE_BLOCKS_MAX) {
		obj_drop(empty);
		empty = NULL;
	}
	bpf_spin_lock(&slot->lock);
	next = bpf_list_pop_front(blocks);
	if (empty)
		list_push_back(&slot->free_blocks, &empty->list);
	bpf_spin_unlock(&slot->lock);

	if (empty)
		slot->n_free++;
	queue->full_blocks--;
	queue->first = 0;
	block = next ? container_of(next, struct dualpi2_block, list)
		     : bpf_kptr_xchg(&queue->tail, NULL);
	if (!block)
		return 0;
	enqueued_ns = block->packet[0].enqueued_ns;
	put_block(next ? &queue->head : &queue->tail, block);
	return enqueued_ns;
}

/* Take the last packet of the block at the head. */
static __always_inline struct sk_buff *pop_last(struct slot *slot, struct queue *queue,
						struct dualpi2_block *block, u64 *next_ns,
						struct packet_info *info)
{
	struct sk_buff *skb = take_out(&block->packet[BLOCK_PACKETS - 1], info);

	if (queue->full_blocks) {
		*next_ns = next_head(slot, queue, block);
	} else {
		queue->first = 0;
		queue->end = 0;
		*next_ns = 0;
		put_block(&queue->tail, block);
	}
	return skb;
}

/* Take the first packet of the blocks; NULL if there is none. */
static __always_inline struct sk_buff *pop_block(struct slot *slot, struct queue *queue,
						 u64 *next_ns, struct packet_info *info)
{
	struct dualpi2_block **place = queue->full_blocks ? &queue->head : &queue->tail;
	struct dualpi2_block *block = bpf_kptr_xchg(place, NULL);
	u64 first = queue->first;
	struct packet *packet;
	struct sk_buff *skb;

	if (!block)
		return NULL;
	if (first >= BLOCK_PACKETS - 1)
		return pop_last(slot, queue, block, next_ns, info);
	packet = packet_at(block, first);
	skb = take_out(packet, info);
	*next_ns = packet[1].enqueued_ns;
	first++;
	if (!queue->full_blocks && first == queue->end) {
		first = 0;
		queue->end = 0;
		*next_ns = 0;
	}
	queue->first = first;
	put_block(place, block);
	return skb;
}

/* Take the first packet of a queue; NULL if there is none. `*next_ns`: when the one behind
 * it was enqueued, 0 if it was the last.
 */
static __always_inline struct sk_buff *pop(struct slot *slot, struct queue *queue, u64 *next_ns,
					   struct packet_info *info)
{
	struct sk_buff *skb = bpf_kptr_xchg(&queue->lone.skb, NULL);

	if (!skb)
		return pop_block(slot, queue, next_ns, info);
	*info = queue->lone.info;
	*next_ns = queue->second_ns;
	return skb;
}

/* Give up to `most` blocks of a list back to the kernel, with the packets in them. */
static __always_inline void drain(struct slot *slot, struct bpf_list_head *blocks, u32 most)
{
	struct bpf_list_node *block;
	u32 i;

	bpf_for(i, 0, most) {
		bpf_spin_lock(&slot->lock);
		block = bpf_list_pop_front(blocks);
		bpf_spin_unlock(&slot->lock);
		if (!block)
			break;
		obj_drop(container_of(block, struct dualpi2_block, list));
	}
}

/* Throw away all that a queue holds, and its blocks. */
static __always_inline void queue_clear(struct slot *slot, struct queue *queue)
{
	put_skb(&queue->lone.skb, NULL);
	put_block(&queue->head, NULL);
	drain(slot, blocks_of(slot, queue), DUALPI2_LIMIT_MAX / BLOCK_PACKETS + 1);
	put_block(&queue->tail, NULL);
	queue->full_blocks = 0;
	queue->first = 0;
	queue->end = 0;
}

#endif /* QUEUE_BPF_H */
