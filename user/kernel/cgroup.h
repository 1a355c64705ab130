/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups (version 2): the sockets of a program and of what it starts. */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>
#include <linux/types.h>

#define CGROUP_MOUNT "/sys/fs/cgroup" /* where they are mounted, or below */

/* Where they are mounted, for us or, if not, for the first process; NULL, which is reported. */
const char *cgroup_mount_point(void);

/* An open one, or -1, which is reported. `path`: a directory; below the file system's root unless
 * it begins there.
 */
int cgroup_open(const char *path);

/* The one with all processes. */
int cgroup_open_root(void);

/* That of a unit that the system manager of systemd runs; `path` is where it is. Of two with its
 * name none is opened.
 */
int cgroup_open_unit(const char *unit, char path[PATH_MAX]);

/* Its number, which does not come again as long as the system runs. */
__u64 cgroup_number(int cgroup);

/* Where the one of this number is: 1, or 0: it is gone, or we may not look everywhere. */
int cgroup_find(__u64 number, char path[PATH_MAX]);

/* Attach a program for BPF_CGROUP_SOCK_OPS beside those of others: all are asked. A link, or -1,
 * which is reported.
 */
int cgroup_attach(int program, int cgroup);

/* The number of a link's one; 0: it is gone, or unknown. */
__u64 cgroup_of(int link);

#endif /* CGROUP_H */
