/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registration of an AQM's qdisc kind on this host: its programs and maps, loaded by
 * the first dualpi2-load that needs them, pinned in a directory with the AQM's name, and found
 * there by all later tools.
 */
#ifndef REGISTRATION_H
#define REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "aqm/aqm.h"
#include "conviction.h"
#include "dualpi2.h"
#include "flow.h"

/* The pins: X(member of struct registration, name of the pin and the object, may everybody read it,
 * and the shape: of a map its type and the size of its keys and values, bytes; a map for each CPU
 * would have more of them). `registration` comes last, so that where it is, all others are. Not
 * every AQM has values, or maps for hosts or subscribers (subscribers.h).
 */
#define REGISTRATION_HASH(value) \
	.type = BPF_MAP_TYPE_HASH, .key_size = sizeof(struct dualpi2_key), .value_size = (value)
#define REGISTRATION_ARRAY(value) \
	.type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(__u32), .value_size = (value)
#define REGISTRATION_MAPS                                              \
	.type = BPF_MAP_TYPE_ARRAY_OF_MAPS, .key_size = sizeof(__u32), \
	.value_size = sizeof(__u32), .max_entries = DUALPI2_MAX_INSTANCES
#define REGISTRATION_PROGRAM(of_type) .object = OBJECT_PROGRAM, .type = BPF_PROG_TYPE_##of_type
#define REGISTRATION_LINK .object = OBJECT_LINK, .type = BPF_LINK_TYPE_STRUCT_OPS
#define REGISTRATION_OPS "dualpi2" /* the struct_ops that is the qdisc */
#define REGISTRATION_PINS(X)                                                                 \
	X(qdiscs, "dualpi2_qdiscs", false, REGISTRATION_ARRAY(0))                            \
	X(live, "dualpi2_live", false, REGISTRATION_HASH(sizeof(__u32)))                     \
	X(stats, "dualpi2_stats", true, REGISTRATION_HASH(sizeof(struct dualpi2_stats)))     \
	X(delays, "dualpi2_delays", true, REGISTRATION_HASH(sizeof(struct dualpi2_delays)))  \
	X(values, "dualpi2_values", true, REGISTRATION_ARRAY(sizeof(struct dualpi2_values))) \
	X(conf, "dualpi2_conf", false, REGISTRATION_HASH(sizeof(struct dualpi2_params)))     \
	X(events, "dualpi2_events", true, REGISTRATION_ARRAY(sizeof(struct dualpi2_event)))  \
	X(flows, "dualpi2_flows", false, REGISTRATION_ARRAY(sizeof(struct dualpi2_flow)))    \
	X(convictions, "dualpi2_convictions", false,                                         \
	  REGISTRATION_ARRAY(sizeof(struct dualpi2_conviction)))                             \
	X(host_sets, "dualpi2_host_sets", false, REGISTRATION_MAPS)                          \
	X(host_dualqs, "dualpi2_host_dualqs", false, REGISTRATION_MAPS)                      \
	X(prefixes, "dualpi2_prefixes", false, REGISTRATION_MAPS)                            \
	X(generations, "dualpi2_generations", false, REGISTRATION_ARRAY(sizeof(__u32)))      \
	X(plans, "dualpi2_plans", false, REGISTRATION_MAPS)                                  \
	X(names, "dualpi2_names", false, REGISTRATION_MAPS)                                  \
	X(parents, "dualpi2_parents", false, REGISTRATION_MAPS)                              \
	X(plan_dualqs, "dualpi2_plan_dualqs", false, REGISTRATION_MAPS)                      \
	X(abi, "dualpi2_abi", true, REGISTRATION_ARRAY(sizeof(__u32)))                       \
	X(split, "dualpi2_split", false, REGISTRATION_PROGRAM(SCHED_CLS))                    \
	X(segment, "dualpi2_segment", false, REGISTRATION_PROGRAM(SCHED_CLS))                \
	X(mark, "dualpi2_mark", false, REGISTRATION_PROGRAM(SCHED_CLS))                      \
	X(ingress, "dualpi2_ingress", false, REGISTRATION_PROGRAM(SCHED_CLS))                \
	X(change, "dualpi2_change", false, REGISTRATION_PROGRAM(SYSCALL))                    \
	X(refresh, "dualpi2_refresh", false, REGISTRATION_PROGRAM(SYSCALL))                  \
	X(find_netns, "dualpi2_find_netns", false, REGISTRATION_PROGRAM(SCHED_CLS))          \
	X(ops, REGISTRATION_OPS, false, .type = BPF_MAP_TYPE_STRUCT_OPS)                     \
	X(link, "registration", false, REGISTRATION_LINK)

struct registration {
	const struct aqm *aqm;

	/* file descriptors, or -1 */
#define REGISTRATION_X(member, name, is_public, ...) int member;
	REGISTRATION_PINS(REGISTRATION_X)
#undef REGISTRATION_X
	int types; /* of the programs (inner_map.h), for maps of DualQs; -1 as well without the
		    * right to open them
		    */
};

/* All AQMs, in the order of their list, registered or not. */
struct registrations {
	struct registration of[AQMS_MAX];
	size_t count;
};

/* Is there one whose types are to be opened, which takes PRIVILEGE_TYPES? */
bool registrations_need_types(void);

/* Open what is pinned, and the ledger. Of an AQM that is not registered nothing is open, and
 * look-ups find nothing. With false all is closed again.
 */
bool registrations_open(struct registrations *regs);

/* The same without the right to open it: just what everybody may read; the rest is not open. */
bool registrations_open_public(struct registrations *regs);

void registrations_close(struct registrations *regs);

/* Is any open? */
bool registrations_found(const struct registrations *regs);

/* Remove all that are not in use and, after the last one, what else is pinned and empty. The lock
 * is held. NULL, or one that stays only because it cannot be seen whether it is in use.
 */
const struct aqm *registrations_remove_unused(struct registrations *regs);

struct registration *registration_of(const struct registrations *regs, const struct aqm *aqm);

bool registration_is_open(const struct registration *reg);

/* Is what is open, or that nothing is, still so: is the map of events the one that is pinned? 1, 0,
 * or -errno: unknown.
 */
int registration_is_current(const struct registration *reg);

/* Load, register and pin, over the remains of an interrupted run. On failure nothing
 * stays behind. The lock is held. `refused` reports why the kernel does not take the programs.
 */
bool registration_make(struct registration *reg, bool (*refused)(int error));

/* Is it in use: a qdisc lives, or its kind is net.core.default_qdisc? 1, 0, or -errno: only the
 * last is possible, and cannot be seen (with what default_qdisc_open() has opened).
 */
int registration_in_use(const struct registration *reg);

/* How many qdiscs live, on an interface (key.parent: any) or (NULL) on all: 0 to
 * DUALPI2_MAX_INSTANCES, or -errno.
 */
int registration_lives(const struct registration *reg, const struct dualpi2_key *interface);

/* Is its kind registered, but not pinned where we look: 1, 0, or -errno: unknown. -EPERM: only who
 * has CAP_SYS_ADMIN may look.
 */
int registration_elsewhere(const struct aqm *aqm);

#define REGISTRATION_ELSEWHERE "is registered, but not pinned in " PIN_DIR " as we see it"

/* The remedy then, written to `text` (BPFFS_WHY_MAX bytes). */
const char *registration_remedy(char *text);

/* Unregister and remove everything that is pinned. The lock is held. */
void registration_remove(struct registration *reg);

#endif /* REGISTRATION_H */
