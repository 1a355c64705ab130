/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control group that `tcp-prague run` makes for its command. */
#ifndef OWN_CGROUP_H
#define OWN_CGROUP_H

#include <limits.h>
#include <stdbool.h>

/* A new one in that which we are in, named after us; `path` is where it is. */
int own_cgroup_make(char path[PATH_MAX]);

/* Put this process into it. */
bool own_cgroup_enter(int fd);

/* End what is still in it, and remove it. */
void own_cgroup_remove(int fd, const char *path);

/* Remove what a killed run has left, where nothing is left in it. */
void own_cgroup_sweep(void);

#endif /* OWN_CGROUP_H */
