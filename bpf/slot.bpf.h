/* SPDX-License-Identifier: GPL-2.0-only */
/* The instances: one slot of an array map for each live qdisc, and the maps that
 * users see.
 *
 * A qdisc finds its slot without a hash look-up: Qdisc.limit, which nobody but
 * the qdisc itself reads, holds the slot's number. For the root of a device that is, if
 * it was free, one that the tcx program knows beforehand; else the program follows
 * skb->dev->qdisc->limit to the same slot (behind an mq: that of the queue that the
 * packet will take, txqueue.bpf.h). It checks there that this device or this qdisc is
 * the slot's owner, so whatever sits at the root of a device cannot mislead it.
 */
#ifndef SLOT_BPF_H
#define SLOT_BPF_H

/* What dequeue has to know of a packet. */
struct packet_info {
	u32 len;      /* as the qdisc layer counts it, bytes */
	u32 truesize; /* skb->truesize, bytes */
	u16 packets;  /* on the wire: > 1 for GSO */
	u8 flags;     /* PACKET_* */
};

struct packet {
	struct sk_buff __kptr *skb;
	u64 enqueued_ns;
	struct packet_info info;
};

/* Packets that follow each other in a queue. 248 bytes: with its header it fills 256, one of
 * the sizes of the kernel's allocator for BPF. (A type that a kptr points to is looked up in
 * the kernel first, hence the prefix.)
 */
#define BLOCK_PACKETS 7
struct dualpi2_block {
	struct bpf_list_node list;
	struct packet packet[BLOCK_PACKETS];
};

/* Where the packets of one queue are (queue.bpf.h). */
struct queue {
	struct packet lone;		   /* found the queue empty; its time is head_ns */
	u64 second_ns;			   /* when the one behind it was enqueued; 0: none */
	struct dualpi2_block __kptr *head; /* being emptied, if it is not the tail as well */
	struct dualpi2_block __kptr *tail; /* being filled */
	u32 full_blocks;		   /* head and those in the list */
	u32 first;			   /* packet of the blocks, in the first of them */
	u32 end;			   /* where the tail has its next place */
};

/* Who writes what:
 * - enqueue, dequeue and reset run under the qdisc's lock and own the queues, the
 *   counters, the credit and the shaper. The verifier wants the bpf_spin_lock
 *   around list operations as well.
 * - p' belongs to whoever wins the claim on update_due_ns (tick.bpf.h).
 * - the tcx program and the timer read without a lock: a head time or a backlog
 *   that is one packet old. The error is contained and temporary.
 */
struct slot {
	struct bpf_spin_lock lock;
	struct bpf_list_head l_blocks __contains(dualpi2_block, list);
	struct bpf_list_head c_blocks __contains(dualpi2_block, list);
	struct bpf_list_head free_blocks __contains(dualpi2_block, list);
	struct queue l;
	struct queue c;
	struct bpf_timer timer;

	u64 qdisc;	   /* address of the struct Qdisc that owns the slot; 0: free */
	u64 root_of;	   /* address of the struct net_device whose root it is; 0: of none */
	u64 update_due_ns; /* when p' is to be updated next */
	u64 overdue_ns;	   /* when enqueue steps in for the timer; 0: it has to start it */
	u32 n_free;	   /* blocks in free_blocks */
	u32 frame_len;	   /* of a full frame at the last update, bytes */
	u32 netns_inode;   /* of the network namespace, for people */
	u32 link_header;   /* bytes of it in front of the IP header */
	s32 fresh_credit;  /* that empty queues start with */
	u8 is_framed;	   /* 1: bytes on the link are not those of the qdisc layer */
	u8 to_trim;	   /* 1: dequeue has to look whether the limits hold */
	u8 l_overload;	   /* 1: L drops what it could mark (RFC 9332, 4.2.3) */
	u8 c_overload;	   /* the same of C */
	struct dualpi2_key key;
	struct pi2_law law;
	u64 sure_delay_ns; /* that L marks above, whatever else */
	u64 last_delay_ns; /* queue delay at the last update */
	u64 l_marks;	   /* sum of p_L over the packets it applied to, 2^-32: pi2_recurs() */
	u64 l_hits;	   /* sum of p_C over the packets in L it applied to, 2^-32 */
	u64 c_hits;	   /* sum of p_C over the packets in C it applied to, 2^-32 */
	struct shaper shaper;
	u32 l_packets;	      /* on the wire, that wait in L */
	u8 flags_of_tos[256]; /* PACKET_* by TOS byte or Traffic Class: classify() */
	u32 classes_under;    /* handle whose classes skb->priority may name */
	struct dualpi2_stats stats;
	struct dualpi2_delays delays;
	u32 l_octave, c_octave; /* of the last delay: histogram_record() */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct slot);
} dualpi2_slots SEC(".maps");

/* How a global function returns a packet, by slot (serve_again()). A map of its own: the verifier
 * allows 11 members like this one in a map's value (BTF_FIELDS_MAX, include/linux/bpf.h), and a
 * slot has as many.
 */
struct handover {
	struct sk_buff __kptr *skb;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct handover);
} dualpi2_handover SEC(".maps");

/* Which slot the qdisc at a place has. Written only when one starts or is destroyed: an entry
 * of the public maps moves whenever it is written, and who looks at that very moment may miss it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, u32);
} dualpi2_places SEC(".maps");

/* Statistics of the live qdiscs, and nothing else: made for `bpftool map dump`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, struct dualpi2_stats);
} dualpi2_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, struct dualpi2_delays);
} dualpi2_delays SEC(".maps");

/* Overload events, for who cares to read them (struct dualpi2_event). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DUALPI2_EVENTS_BYTES);
} dualpi2_events SEC(".maps");

/* Parameters that a qdisc starts with, by interface; defaults where absent. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, struct dualpi2_params);
} dualpi2_conf SEC(".maps");

/* Devices that dualpi2-load has made for an interface. The key's parent says what for:
 * DUALPI2_IFB or DUALPI2_SPLITTER.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, struct dualpi2_helper);
} dualpi2_helpers SEC(".maps");

/* Is that the device that was made, and not another one with its number? */
static __always_inline bool is_helper(const struct net_device *dev,
				      const struct dualpi2_helper *helper)
{
	const u64 mac = bpf_be64_to_cpu(0xffffffffffff0000ULL); /* its first six bytes */

	return (*(const u64 *)readable(dev->dev_addr) & mac) == helper->address;
}

/* Map values that are too large for the stack are started from these. */
const struct dualpi2_stats fresh_stats = { .params = DUALPI2_DEFAULT_PARAMS };
const struct dualpi2_delays fresh_delays = {};

static __always_inline struct slot *slot_by_number(u32 number)
{
	return bpf_map_lookup_elem(&dualpi2_slots, &number);
}

/* The slot that slot_claim() tries first for a device: its root's, if that was free. */
static __always_inline struct slot *usual_slot(u32 ifindex)
{
	return slot_by_number(ifindex % DUALPI2_MAX_INSTANCES);
}

static __always_inline struct handover *handover_of_qdisc(const struct Qdisc *sch)
{
	u32 number = sch->limit;

	return bpf_map_lookup_elem(&dualpi2_handover, &number);
}

/* The slot of the qdisc at a place; NULL: none of ours. */
static __always_inline struct slot *slot_at(const struct dualpi2_key *key)
{
	const u32 *number = bpf_map_lookup_elem(&dualpi2_places, key);

	return number ? slot_by_number(*number) : NULL;
}

/* The slot of a qdisc that is one of ours. */
static __always_inline struct slot *slot_of_qdisc(struct Qdisc *sch)
{
	return slot_by_number(sch->limit);
}

/* The slot of any qdisc; NULL if it is not one of ours. */
static __always_inline struct slot *slot_if_ours(const struct Qdisc *qdisc)
{
	struct slot *slot = slot_by_number(qdisc->limit);

	return slot && slot->qdisc == (u64)qdisc ? slot : NULL;
}

/* Take a free slot for a new qdisc, best the one where slot_ahead() looks first; NULL if all
 * are in use.
 */
static __always_inline struct slot *slot_claim(struct Qdisc *sch, u32 ifindex)
{
	u32 number, i;
	struct slot *slot;

	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		number = (ifindex + i) % DUALPI2_MAX_INSTANCES;
		slot = slot_by_number(number);
		if (!slot)
			break;
		if (slot->qdisc || __sync_val_compare_and_swap(&slot->qdisc, 0, (u64)sch))
			continue;
		sch->limit = number;
		return slot;
	}
	return NULL;
}

/* Where one queue's packets and counters are. */
static __always_inline struct queue *queue_of(struct slot *slot, bool in_l)
{
	return in_l ? &slot->l : &slot->c;
}

static __always_inline struct dualpi2_queue *counters_of(struct slot *slot, bool in_l)
{
	return in_l ? &slot->stats.l : &slot->stats.c;
}

#endif /* SLOT_BPF_H */
