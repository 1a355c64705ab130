/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose sockets become Prague's: those of a control group, by a program on it. */
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

/* Attach the program to a control group: its link, or -1, which is reported. */
int opt_in_attach(const struct opt_in *wanted, int cgroup);

#endif /* OPT_IN_H */
