/* SPDX-License-Identifier: GPL-2.0-only */
/* The two queues of an instance, and its nodes, which are recycled.
 *
 * Allocating and freeing a node costs more than all other work on a packet, and
 * a section under the bpf_spin_lock costs as much as the list operation in it.
 * So a node that dequeue has emptied goes to `returned` (one exchange, no lock).
 * The next enqueue takes it from there. When packets pile up or drain, enqueue
 * and dequeue move nodes from and to the free list inside the one locked section
 * that they need anyway, through `spare` and `returned`.
 */
#ifndef QUEUE_BPF_H
#define QUEUE_BPF_H

/* Nodes that an instance keeps for reuse beyond those in use: 64 KiB. */
#define FREE_NODES_MAX 1024

/* Put a node where kptr may hold an older one. */
static __always_inline void keep_node(struct dualpi2_node **place, struct dualpi2_node *node)
{
	struct dualpi2_node *old = bpf_kptr_xchg(place, node);

	if (old)
		obj_drop(old);
}

static __always_inline struct dualpi2_node *node_get(struct slot *slot)
{
	struct dualpi2_node *node = bpf_kptr_xchg(&slot->spare, NULL);

	if (!node)
		node = bpf_kptr_xchg(&slot->returned, NULL);
	if (!node)
		node = obj_new(struct dualpi2_node);
	return node;
}

/* Append a filled node, and take a spare one for the next packet. */
static __always_inline void queue_push(struct slot *slot, bool in_l, struct dualpi2_node *node)
{
	struct bpf_list_node *free;

	bpf_spin_lock(&slot->lock);
	if (in_l)
		list_push_back(&slot->l_queue, &node->list);
	else
		list_push_back(&slot->c_queue, &node->list);
	free = bpf_list_pop_front(&slot->free_nodes);
	bpf_spin_unlock(&slot->lock);

	if (free) {
		slot->n_free--;
		keep_node(&slot->spare, container_of(free, struct dualpi2_node, list));
	}
}

static __always_inline u64 enqueue_time(struct bpf_list_node *list)
{
	return list ? container_of(list, struct dualpi2_node, list)->enqueued_ns : 0;
}

/* Take the head of a queue, NULL if it is empty, and note when the next head was
 * enqueued. The node that the last dequeue left goes to the free list.
 */
static __always_inline struct dualpi2_node *queue_pop(struct slot *slot, bool in_l)
{
	struct dualpi2_node *returned = NULL;
	struct bpf_list_node *head;
	u64 next_ns;

	if (slot->n_free < FREE_NODES_MAX) {
		returned = bpf_kptr_xchg(&slot->returned, NULL);
		if (returned)
			slot->n_free++;
	}
	bpf_spin_lock(&slot->lock);
	if (in_l) {
		head = bpf_list_pop_front(&slot->l_queue);
		next_ns = enqueue_time(bpf_list_front(&slot->l_queue));
	} else {
		head = bpf_list_pop_front(&slot->c_queue);
		next_ns = enqueue_time(bpf_list_front(&slot->c_queue));
	}
	if (returned)
		list_push_back(&slot->free_nodes, &returned->list);
	bpf_spin_unlock(&slot->lock);

	queue_stats(slot, in_l)->head_ns = next_ns;
	return head ? container_of(head, struct dualpi2_node, list) : NULL;
}

/* Give up to `most` nodes of a list back to the kernel, with the packets in them. */
#define queue_drain(slot, list_name, most)                                       \
	({                                                                       \
		struct bpf_list_node *item;                                      \
		u32 i;                                                           \
		bpf_for(i, 0, most) {                                            \
			bpf_spin_lock(&(slot)->lock);                            \
			item = bpf_list_pop_front(&(slot)->list_name);           \
			bpf_spin_unlock(&(slot)->lock);                          \
			if (!item)                                               \
				break;                                           \
			obj_drop(container_of(item, struct dualpi2_node, list)); \
		}                                                                \
	})

#endif /* QUEUE_BPF_H */
