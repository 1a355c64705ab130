/* SPDX-License-Identifier: GPL-2.0-only */
/* A qdisc with a DualQ and a plan for each subscriber: subscribers.h says who writes what, plans.h
 * whose turn it is.
 */
#ifndef SCHEDULE_PLANS_BPF_H
#define SCHEDULE_PLANS_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "dualpi2.h"
#include "ip_prefix.h"
#include "plans.h"
#include "schedule/many.bpf.h"
#include "subscribers.h"

#define SCHEDULE_KIND AQM_SUBSCRIBERS_KIND
#define SCHEDULE_TURNS_H "schedule/plans_turns.bpf.h"

struct schedule {
	struct plans plans;
	struct many many;
	u64 now_ns;  /* of the turn that is being found out: turns_holds() */
	u64 held_ns; /* nobody may send before; 0: somebody may, or it is not known yet */
};

struct in_schedule {
	struct subscriber_use use; /* first, for user space */
	struct in_many many;
	struct plans_dualq plan;
};

/* Whose an address is. */
struct dualpi2_prefixes_of {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct ip_prefix));
	__uint(value_size, sizeof(u32));
};

BY_QDISC(dualpi2_prefixes, struct dualpi2_prefixes_of);

/* How often each trie has changed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DUALPI2_MAX_INSTANCES);
	__type(key, u32);
	__type(value, u32);
} dualpi2_generations SEC(".maps");

/* Whose addresses were that were looked up last, of all qdiscs: a number below what is left of a
 * hash of the address (label_of_v6()).
 */
#define LOOKUPS_SHIFT 16

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << LOOKUPS_SHIFT);
	__type(key, u32);
	__type(value, u64);
} dualpi2_lookups SEC(".maps");

/* By number of a subscriber or a parent. */
#define BY_QDISC_AND_NUMBER(name, of_types)         \
	struct name##_of {                          \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_INNER_MAP); \
		__uint(max_entries, 1);             \
		of_types;                           \
	};                                          \
	BY_QDISC(name, struct name##_of)

/* But bytes: of a type that no function has BTF would have the name alone. */
#define BYTES_OF(type)                 \
	__uint(key_size, sizeof(u32)); \
	__uint(value_size, sizeof(type))

BY_QDISC_AND_NUMBER(dualpi2_plans, BYTES_OF(struct plan));
BY_QDISC_AND_NUMBER(dualpi2_names, BYTES_OF(struct subscriber_name));
BY_QDISC_AND_NUMBER(dualpi2_parents, BYTES_OF(struct plans_parent));
BY_QDISC_AND_NUMBER(dualpi2_plan_dualqs, __type(key, u32); __type(value, struct dualq));

#endif /* SCHEDULE_PLANS_BPF_H */
