/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF file system, where our pins are. */
#ifndef BPFFS_H
#define BPFFS_H

#include <stdbool.h>

#define BPFFS "/sys/fs/bpf"
#define BPFFS_WHY_MAX 384

/* Is there a BPF file system: 1, 0, or -errno: unknown, because we cannot look where the first
 * process of the system looks, because there is no /proc, or because one is hidden; `why`
 * (BPFFS_WHY_MAX bytes) gives the cause and the remedy. One that only the first process sees counts
 * and is entered: `ip netns exec` gives its command a /sys of its own, and pins in a bpffs mounted
 * there would go with the command.
 */
int bpffs_find(char *why);

/* Is one hidden below another file system, of whatever type: 1, 0, or -errno: unknown. `why` names
 * both, and the remedy.
 */
int bpffs_is_hidden(char *why);

/* The remedy where something of ours is registered that is not pinned where we look: to uncover
 * what may have its pins (written to `why`); or, if nothing is hidden, `otherwise`.
 */
const char *bpffs_remedy(char *why, const char *otherwise);

/* Could one be mounted, where there is none: 1; 0 or -errno: `why` says what is in the way. */
int bpffs_has_room(char *why);

/* Mount one if there is none. Of two tools that come at once one does. */
bool bpffs_mount(void);

#endif /* BPFFS_H */
