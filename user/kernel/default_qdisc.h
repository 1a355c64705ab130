/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kind in net.core.default_qdisc. Only the first network namespace shows it. */
#ifndef DEFAULT_QDISC_H
#define DEFAULT_QDISC_H

#include <stdbool.h>

/* To be called while there are the rights to enter the network namespace of process 1, if it is
 * another one (PRIVILEGE_MOUNT), and after bpffs_find(). We stay in ours. That it cannot be
 * seen is no failure; false: there is no file descriptor for it.
 */
bool default_qdisc_open(void);

/* Is it this one now: 1, 0, or -errno: unknown, as it is unless it was opened. Reports nothing. */
int default_qdisc_is(const char *kind);

#endif /* DEFAULT_QDISC_H */
