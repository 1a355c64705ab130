/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sockets of a control group are told: a map of prefixes, and a program that answers from
 * it. Both are pinned, below the number of the control group.
 */
#ifndef TOLD_H
#define TOLD_H

#include <dirent.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "ip_prefix.h"
#include "tcp_base_rtt.h"

#define BASE_RTT_PIN_DIR "/sys/fs/bpf/tcp-base-rtt"

struct told {
	struct ip_prefix prefix;
	struct base_rtt base;
};

/* Is a control group told something: 1, 0 or -errno? */
int told_exists(__u64 cgroup);

/* Open its map: 1; 0: it is told nothing; -errno, which is reported. */
int told_open(__u64 cgroup, int *map);

/* Begin to tell a control group, which `fd` is open for: with this, for the time being. */
bool rtt_map_create(__u64 cgroup, int fd, const struct told *first);

/* Detach it, and remove the map. */
void told_end(__u64 cgroup);

/* End what belongs to control groups that are gone. */
void told_sweep(void);

/* The next control group that is told something, from pins_list(""). False: there is none, and the
 * list is closed.
 */
bool told_next(DIR *pins, __u64 *cgroup);

/* Read what there is for just this prefix: 1, 0 or -errno. */
int told_look(int map, struct told *told);

bool told_write(int map, const struct told *told);
bool told_delete(int map, const struct ip_prefix *prefix);
bool told_is_empty(int map);

/* All of a map, sorted, for free(); the number of them is `count`. NULL, which is reported. */
struct told *rtt_map_read_all(int map, size_t *count);

#endif /* TOLD_H */
