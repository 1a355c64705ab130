/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is our kind net.core.default_qdisc? Only the first network namespace shows that. */
#ifndef DEFAULT_QDISC_H
#define DEFAULT_QDISC_H

#include <stdbool.h>

enum default_qdisc {
	DEFAULT_QDISC_OTHER,
	DEFAULT_QDISC_OURS,
	DEFAULT_QDISC_UNKNOWN, /* it cannot be seen from here */
};

/* To be called while there are the rights to enter the network namespace of process 1, if it is
 * another one (PRIVILEGE_MOUNT), and after pins_find_bpffs(). We stay in ours. That it cannot be
 * seen is no failure; false, with a report (message.h): there is no file descriptor for it.
 */
bool default_qdisc_open(void);

/* What it is now; unknown unless it was opened. */
enum default_qdisc default_qdisc_read(void);

#endif /* DEFAULT_QDISC_H */
