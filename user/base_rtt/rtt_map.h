/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The base RTTs of a control group: a map of prefixes, and a program that answers its sockets from
 * it. Both are pinned, with the number of the control group in their names.
 */
#ifndef RTT_MAP_H
#define RTT_MAP_H

#include <dirent.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "ip_prefix.h"
#include "tcp_base_rtt.h"

#define BASE_RTT_PIN_DIR "/sys/fs/bpf/tcp-base-rtt"

struct rtt_entry {
	struct ip_prefix prefix;
	struct base_rtt base;
};

/* Has a control group a map: 1, 0 or -errno? */
int rtt_map_exists(__u64 cgroup);

/* Open its map: 1; 0: there is none; -errno, which is reported. */
int rtt_map_open(__u64 cgroup, int *map);

/* Make a map with a first entry, and attach the program to the control group, which `fd` is open
 * for.
 */
bool rtt_map_create(__u64 cgroup, int fd, const struct rtt_entry *first);

/* Detach the program, and remove the map. */
void rtt_map_remove(__u64 cgroup);

/* Remove the maps of control groups that are gone. */
void rtt_maps_sweep(void);

/* The next control group with a map, from pins_list(""). False: there is none, and the list is
 * closed.
 */
bool rtt_map_next(DIR *pins, __u64 *cgroup);

/* Read the entry of exactly this prefix: 1, 0 or -errno. */
int rtt_map_look(int map, struct rtt_entry *entry);

bool rtt_map_write(int map, const struct rtt_entry *entry);
bool rtt_map_delete(int map, const struct ip_prefix *prefix);
bool rtt_map_is_empty(int map);

/* All entries, sorted by prefix, for free(); `count` is their number. NULL, which is reported. */
struct rtt_entry *rtt_map_read(int map, size_t *count);

#endif /* RTT_MAP_H */
