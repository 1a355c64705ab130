/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program on a control group that chooses Prague for its sockets. */
#ifndef OPT_IN_H
#define OPT_IN_H

#include <linux/types.h>
#include <stdbool.h>

#define OPT_IN_PINS "on"

struct opt_in {
	const char *congestion; /* name of the congestion control */
	__u64 netns;		/* only in this network namespace (cookie); 0: in all */
	const char *to;		/* only for these destinations: prefixes, separated by commas */
	const char *not_to;	/* not for these; NULL: no such limit */
};

/* Attach the program to a control group, as long as we run. */
bool opt_in_attach(const struct opt_in *wanted, int cgroup);

/* The same for good, in place of what was wanted before for the same control group or namespace.
 * The lock is held. Programs whose control group or namespace has ended are removed, because the
 * kernel takes only so many on a control group.
 */
bool opt_in_pin(const struct opt_in *wanted, int cgroup);

/* A program for netns_has_ended(): a file descriptor, or -1, which is reported. */
int opt_in_finder(void);

#endif /* OPT_IN_H */
