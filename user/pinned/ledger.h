/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger: devices that we made, root qdiscs and settings of interfaces to put back. It stays as
 * long as something of ours is on the host, whichever registrations come and go. Maps by struct
 * dualpi2_key, pinned in a directory of their own; the programs of every AQM use the devices.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "dualpi2.h"
#include "kernel/link.h"
#include "kernel/qdisc.h"
#include "pinned/pins.h"

enum ledger {
	LEDGER_DEVICES,	 /* struct dualpi2_device, by what for (key.parent) */
	LEDGER_PRIORS,	 /* struct qdisc: the former root, by interface (key.parent: any) */
	LEDGER_SETTINGS, /* struct prior_settings, the same */
	N_LEDGERS,
};

/* Former settings of an interface that we changed (0: not changed), and the new ones. */
struct prior_settings {
	__u32 of[N_LINK_SETTINGS];
	__u32 ours[N_LINK_SETTINGS];
};

/* The key of what is kept for an interface, from that of a qdisc on it. */
static inline struct dualpi2_key interface_key(const struct dualpi2_key *key)
{
	return (struct dualpi2_key){ .netns = key->netns, .ifindex = key->ifindex };
}

/* Look up a value in any map by such keys (-1: there is none): 1, 0, or -errno. */
int map_read(int map, const void *key, void *value);

/* Open it; that there is none yet is no failure, then look-ups find nothing. */
bool ledger_open(void);

/* Make what is missing of it. The lock is held. */
bool ledger_make(void);

/* The devices are a map of the BPF objects, which libbpf pins there, or takes from there. */
#define LEDGER_DEVICES_MAP "dualpi2_devices"
#define LEDGER_DEVICES_PATH PIN_DIR "/ledger/" LEDGER_DEVICES_MAP

/* Remove it if nothing is in it. The lock is held. */
void ledger_remove_if_empty(void);

/* File descriptor of a map; -1: there is none. */
int ledger_fd(enum ledger ledger);

/* Look up an entry: 1; 0: there is none, `entry` is all 0; -errno, which is reported: unknown. */
int ledger_read(enum ledger ledger, const struct dualpi2_key *key, void *entry);

bool ledger_write(enum ledger ledger, const struct dualpi2_key *key, const void *entry);

void ledger_erase(enum ledger ledger, const struct dualpi2_key *key);

#endif /* LEDGER_H */
