/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the host must have. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

/* Print a line for everything that the qdisc needs (report.h), changing nothing. True: nothing is
 * missing.
 */
bool host_report(void);

/* The next two return false if something is missing, and have reported the first such thing. */

/* What can be told without delay. */
bool host_is_fit(void);

/* Only the rights to unload. */
bool host_may_unload(void);

/* Report why the kernel refused our programs, for this errno. Always false. To find out means to
 * read its type information, as libbpf does for each load, at the cost of a third of one, and to
 * load programs: so it is not asked before.
 */
bool host_refused(int error);

#endif /* HOST_H */
