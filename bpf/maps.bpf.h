/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps, and how an instance is found.
 *
 * A qdisc finds its instance without a hash look-up: Qdisc.limit, which nobody but the qdisc itself
 * reads, holds its number. For the root of a device that is, if it was free, one that the tcx
 * program knows beforehand; else the program follows skb->dev->qdisc->limit to the same instance
 * (behind an mq: that of the queue that the packet will take, txqueue.bpf.h). It checks there that
 * this device or this qdisc is the instance's owner, so whatever sits at the root of a device
 * cannot mislead it.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "conviction.h"
#include "dualpi2.h"
#include "flow.h"
#include "instance.bpf.h"
#include "kernel.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, struct instance);
} dualpi2_qdiscs SEC(".maps");

/* How a global function returns a packet, by the instance's number (serve_again()). A map of its
 * own: the verifier allows 11 members like this one in a map's value (BTF_FIELDS_MAX,
 * include/linux/bpf.h), and an instance has as many.
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

/* The number of each live qdisc. Written only when one starts or is destroyed: an entry of the
 * public maps moves whenever it is written, and who looks at that very moment may miss it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, struct dualpi2_key);
	__type(value, u32);
} dualpi2_live SEC(".maps");

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

/* Overload events, for who cares to read them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_EVENTS);
	__type(key, u32);
	__type(value, struct dualpi2_event);
} dualpi2_events SEC(".maps");

/* What is known of flows (flows.bpf.h). Tools look through all of it, hence the flag. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, DUALPI2_FLOWS);
	__type(key, u32);
	__type(value, struct dualpi2_flow);
} dualpi2_flows SEC(".maps");

/* Flows that were convicted lately (conviction.bpf.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_CONVICTIONS);
	__type(key, u32);
	__type(value, struct dualpi2_conviction);
} dualpi2_convictions SEC(".maps");

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
	__type(value, struct dualpi2_device);
} dualpi2_devices SEC(".maps");

/* Is that the device that was made, and not another one with its number? */
static __always_inline bool is_made_by_us(const struct net_device *dev,
					  const struct dualpi2_device *made)
{
	const u64 mac = bpf_be64_to_cpu(0xffffffffffff0000ULL); /* its first six bytes */

	return (*(const u64 *)readable(dev->dev_addr) & mac) == made->address;
}

static __always_inline struct instance *instance_by_number(u32 number)
{
	return bpf_map_lookup_elem(&dualpi2_qdiscs, &number);
}

static __always_inline struct handover *handover_of(const struct Qdisc *sch)
{
	u32 number = sch->limit;

	return bpf_map_lookup_elem(&dualpi2_handover, &number);
}

/* The instance of the qdisc at a place; NULL: none of ours. */
static __always_inline struct instance *instance_at(const struct dualpi2_key *key)
{
	const u32 *number = bpf_map_lookup_elem(&dualpi2_live, key);

	return number ? instance_by_number(*number) : NULL;
}

/* The instance of a qdisc that is one of ours. */
static __always_inline struct instance *instance_of(const struct Qdisc *sch)
{
	return instance_by_number(sch->limit);
}

/* The instance of any qdisc; NULL if it is not one of ours. */
static __always_inline struct instance *instance_if_ours(const struct Qdisc *qdisc)
{
	struct instance *in = instance_of(qdisc);

	return in && in->qdisc == (u64)qdisc ? in : NULL;
}

/* The instance of a device's root, if its number was free when it started. */
static __always_inline struct instance *usual_instance(u32 ifindex)
{
	return instance_by_number(ifindex % DUALPI2_MAX_INSTANCES);
}

/* Take a free instance for a new qdisc, best the usual one; NULL if all are in use. */
static __always_inline struct instance *instance_claim(struct Qdisc *sch, u32 ifindex)
{
	struct instance *in;
	u32 number, i;

	bpf_for(i, 0, DUALPI2_MAX_INSTANCES) {
		number = (ifindex + i) % DUALPI2_MAX_INSTANCES;
		in = instance_by_number(number);
		if (!in)
			break;
		if (in->qdisc || __sync_val_compare_and_swap(&in->qdisc, 0, (u64)sch))
			continue;
		in->number = number;
		sch->limit = number;
		return in;
	}
	return NULL;
}

#endif /* MAPS_BPF_H */
