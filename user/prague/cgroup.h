/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups (version 2): the sockets of a program and of what it starts. */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>
#include <stdbool.h>

/* An open one, or -1, which is reported. `path`: a directory; below the file system's root unless
 * it begins there.
 */
int cgroup_open(const char *path);

/* The one with all processes. */
int cgroup_open_root(void);

/* That of a systemd unit that runs; `path` is where it is. */
int cgroup_open_unit(const char *unit, char path[PATH_MAX]);

/* A new one in that which we are in, named after us; `path` is where it is. */
int cgroup_make(char path[PATH_MAX]);

/* Put this process into it. */
bool cgroup_enter(int fd);

/* End what is still in it, and remove it. */
void cgroup_remove(int fd, const char *path);

/* Remove what a killed run has left, where nothing is left in it. */
void cgroup_sweep(void);

#endif /* CGROUP_H */
