/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF file system, where our pins are. */
#ifndef BPFFS_H
#define BPFFS_H

#include <stdbool.h>

#define BPFFS "/sys/fs/bpf"

/* Is there a BPF file system: 1, 0, or -errno: we cannot look where the first process of the system
 * does. One that only that process sees counts and is entered: `ip netns exec` gives its command a
 * /sys of its own, and pins in a bpffs mounted there would go with the command. Reports nothing.
 */
int bpffs_find(void);

#define BPFFS_HIDDEN_TEXT                                                                          \
	BPFFS " of the host cannot be seen from here (`ip netns exec` hides it, `nsenter --net=` " \
	      "does not)"

/* The same; what is unknown is reported. */
int bpffs_look(void);

/* Where several file systems are mounted at BPFFS, of which only the last one can be seen: names
 * them, and what helps. NULL: it is one. Writes to `text` (BPFFS_COVER_MAX bytes).
 */
#define BPFFS_COVER_MAX 320
const char *bpffs_cover(char *text);

/* Mount one if there is none. */
bool bpffs_mount(void);

#endif /* BPFFS_H */
