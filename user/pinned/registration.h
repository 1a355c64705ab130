/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registration of an AQM's qdisc kind on this host: its programs and maps, loaded by
 * the first dualpi2-load that needs them, pinned in a directory with the AQM's name, and found
 * there by all later tools.
 *
 * Functions that return bool have reported (message.h) why they return false.
 */
#ifndef REGISTRATION_H
#define REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "aqm/aqm.h"
#include "dualpi2.h"

/* What is pinned: X(member of struct registration, name of the pin). Links, maps and
 * programs; `registration` comes last, so that where it is, all others are.
 */
#define REGISTRATION_PINS(X)                \
	X(qdiscs, "dualpi2_qdiscs")         \
	X(live, "dualpi2_live")             \
	X(stats, "dualpi2_stats")           \
	X(delays, "dualpi2_delays")         \
	X(conf, "dualpi2_conf")             \
	X(events, "dualpi2_events")         \
	X(abi, "dualpi2_abi")               \
	X(split, "dualpi2_split")           \
	X(segment, "dualpi2_segment")       \
	X(mark, "dualpi2_mark")             \
	X(ingress, "dualpi2_ingress")       \
	X(change, "dualpi2_change")         \
	X(refresh, "dualpi2_refresh")       \
	X(find_netns, "dualpi2_find_netns") \
	X(link, "registration")

/* Those of them that everybody may read. */
#define REGISTRATION_PUBLIC_PINS(X) \
	X(stats, "dualpi2_stats")   \
	X(delays, "dualpi2_delays") \
	X(abi, "dualpi2_abi")

struct registration {
	const struct aqm *aqm;

	/* file descriptors, or -1 */
#define REGISTRATION_X(member, name) int member;
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

/* So many more qdiscs can start. */
size_t registration_room(const struct registration *reg);

/* Unregister and remove everything that is pinned. The lock is held. */
void registration_remove(struct registration *reg);

#endif /* REGISTRATION_H */
