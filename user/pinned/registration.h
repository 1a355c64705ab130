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
#include "dualpi2.h"

/* What is pinned: X(member of struct registration, name of the pin, may everybody read it, and of a
 * map that we read or write ourselves the size of its keys and values, bytes). Links, maps and
 * programs; `registration` comes last, so that where it is, all others are. Not every AQM has
 * values.
 */
#define REGISTRATION_PINS(X)                                                                      \
	X(qdiscs, "dualpi2_qdiscs", false, 0, 0)                                                  \
	X(live, "dualpi2_live", false, sizeof(struct dualpi2_key), sizeof(__u32))                 \
	X(stats, "dualpi2_stats", true, sizeof(struct dualpi2_key), sizeof(struct dualpi2_stats)) \
	X(delays, "dualpi2_delays", true, sizeof(struct dualpi2_key),                             \
	  sizeof(struct dualpi2_delays))                                                          \
	X(values, "dualpi2_values", true, sizeof(struct dualpi2_key),                             \
	  sizeof(struct dualpi2_values))                                                          \
	X(conf, "dualpi2_conf", false, sizeof(struct dualpi2_key), sizeof(struct dualpi2_params)) \
	X(events, "dualpi2_events", true, sizeof(__u32), sizeof(struct dualpi2_event))            \
	X(abi, "dualpi2_abi", true, sizeof(__u32), sizeof(__u32))                                 \
	X(split, "dualpi2_split", false, 0, 0)                                                    \
	X(segment, "dualpi2_segment", false, 0, 0)                                                \
	X(mark, "dualpi2_mark", false, 0, 0)                                                      \
	X(ingress, "dualpi2_ingress", false, 0, 0)                                                \
	X(change, "dualpi2_change", false, 0, 0)                                                  \
	X(refresh, "dualpi2_refresh", false, 0, 0)                                                \
	X(find_netns, "dualpi2_find_netns", false, 0, 0)                                          \
	X(link, "registration", false, 0, 0)

struct registration {
	const struct aqm *aqm;

	/* file descriptors, or -1 */
#define REGISTRATION_X(member, name, is_public, key_size, value_size) int member;
	REGISTRATION_PINS(REGISTRATION_X)
#undef REGISTRATION_X
};

/* All AQMs, in the order of their list, registered or not. */
struct registrations {
	struct registration of[AQMS_MAX];
	size_t count;
};

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

/* Unregister and remove everything that is pinned. The lock is held. */
void registration_remove(struct registration *reg);

#endif /* REGISTRATION_H */
