/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the host must have. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

/* Why the kernel takes no programs from us in a user namespace, whose capabilities we have. */
#define HOST_CONFINED_TEXT \
	"here, in a user namespace, the kernel takes no BPF programs: run it as root of the host"

/* Print a line for everything that the qdisc needs (report.h), changing nothing. True: nothing is
 * missing.
 */
bool host_report(void);

/* The rest return false if something is missing, and have reported the first such thing. */

/* What can be told without delay: all but the next one. */
bool host_is_fit(void);

/* Does the kernel take qdiscs in BPF, and programs such as ours? To ask it means to read its type
 * information, as libbpf does for each load, at the cost of a third of one, and to load programs:
 * for those that failed only.
 */
bool host_kernel_is_fit(void);

/* Only the rights to unload. */
bool host_may_unload(void);

#endif /* HOST_H */
