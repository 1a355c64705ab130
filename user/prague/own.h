/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A Prague of one process alone, under a name of its own: it ends with the process. And the control
 * group that `tcp-prague run` makes for its command.
 */
#ifndef OWN_H
#define OWN_H

#include <limits.h>
#include <stdbool.h>

#include "prague/programs.h"

#define OWN_TAG_MAX 9 /* "1a2b3c4d" */

/* A tag that nobody else has: 0, or an errno. */
int own_tag(char tag[OWN_TAG_MAX]);

/* Load the programs; `name` is that of the congestion control. Where the kernel has a Prague of its
 * own nothing is loaded, and `name` is that one's. `devices`, `config`: as for `tcp-prague on`.
 */
bool own_prague(const char *tag, const char *devices, const struct prague_config *config,
		char name[PRAGUE_NAME_MAX], struct programs *programs);

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

#endif /* OWN_H */
