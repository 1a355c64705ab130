/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control group that `tcp-prague run` makes for its command. */
#ifndef OWN_CGROUP_H
#define OWN_CGROUP_H

#include <limits.h>
#include <stdbool.h>

#include "prague/own.h"

struct own_cgroup {
	int fd;
	int lock;	       /* held as long as the run is at work */
	char path[PATH_MAX];   /* where it is */
	char tag[OWN_TAG_MAX]; /* its name ends with it */
};

/* Make one in the control group that we are in. */
bool own_cgroup_make(struct own_cgroup *group);

/* Put this process into it. */
bool own_cgroup_enter(const struct own_cgroup *group);

/* End what still runs in it, and remove it with all below it. */
void own_cgroup_remove(const struct own_cgroup *group);

/* Remove what a killed run has left, where nothing is left in it. */
void own_cgroup_sweep(void);

#endif /* OWN_CGROUP_H */
