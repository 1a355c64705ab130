/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one registration of the qdisc kind on this host: its programs and maps,
 * loaded by the first dualpi2-load, pinned, and found there by all later tools.
 *
 * Functions that return bool have reported (message.h) why they return false.
 */
#ifndef REGISTRATION_H
#define REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "aqm/aqm.h"
#include "dualpi2.h"
#include "kernel/qdisc.h"

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
	X(prior, "dualpi2_prior")           \
	X(settings, "dualpi2_settings")     \
	X(devices, "dualpi2_devices")       \
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

/* Value of the map dualpi2_prior, by struct dualpi2_key: the root qdisc that
 * --replace took away and --unload puts back.
 */
struct prior_qdisc {
	char kind[QDISC_KIND_MAX];
	__u32 handle;
	__u32 options_len;
	__u8 options[QDISC_OPTIONS_MAX];
};

/* Value of the map dualpi2_settings, by struct dualpi2_key: what the interface had before we
 * changed it; 0: we did not.
 */
struct prior_settings {
	__u32 gso_max_segs;
	__u32 gro_max_size;
	__u32 gro_ipv4_max_size;
};

/* Open what is pinned. `found` is false if the kind is not registered; then nothing is
 * open, and look-ups find nothing.
 */
bool registration_open(struct registration *reg, bool *found);

/* The same without the right to open it: just what everybody may read; the rest is not open. */
bool registration_open_public(struct registration *reg, bool *found);

/* Load, register and pin, over the remains of an interrupted run. On failure nothing
 * stays behind. The lock is held. `refused` reports why the kernel does not take the programs.
 */
bool registration_make(struct registration *reg, bool (*refused)(int error));

/* Is it in use: a qdisc lives, a helper device (device.h) is in use, or our kind is
 * net.core.default_qdisc? 1, 0, or -errno: only the last is possible, and cannot be seen (with what
 * default_qdisc_open() has opened).
 */
int registration_in_use(const struct registration *reg);

/* So many more qdiscs can start. */
size_t registration_room(const struct registration *reg);

/* Unregister and remove everything that is pinned. The lock is held. */
void registration_remove(struct registration *reg);

void registration_close(struct registration *reg);

#endif /* REGISTRATION_H */
