/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups (version 2): the sockets of a program and of what it starts. */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>
#include <linux/types.h>
#include <stdbool.h>

#define CGROUP_MOUNT "/sys/fs/cgroup" /* where they are mounted, or below */

/* Their mount point; NULL, which is reported. */
const char *cgroup_mount_point(void);

/* Open one: a file descriptor, or -1, which is reported. `path`: a directory; below the file
 * system's root unless it begins there.
 */
int cgroup_open(const char *path);

/* Open the one with all processes. */
int cgroup_open_root(void);

/* Find the one that this process is in. */
bool cgroup_own(char path[PATH_MAX]);

/* Open the one of a running unit of the system's service manager, not of a user's or a container's;
 * `path` is where it is.
 */
int cgroup_open_unit(const char *unit, char path[PATH_MAX]);

/* Its number, which does not come again as long as the system runs. */
__u64 cgroup_number(int cgroup);

/* Find the one of this number: 1; 0: it is gone, or below one that we may not look into; or -errno:
 * unknown. That no control groups are mounted is reported.
 */
int cgroup_find(__u64 number, char path[PATH_MAX]);

/* Attach a program for BPF_CGROUP_SOCK_OPS beside those of others: all are asked. A link, or -1,
 * which is reported.
 */
int cgroup_attach(int program, int cgroup);

/* Is the one gone that a link was on: 1, 0, or -errno: unknown? */
int cgroup_is_gone(int link);

#endif /* CGROUP_H */
