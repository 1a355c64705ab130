/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the host must have. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

/* What for. */
enum host_need {
	HOST_REPORT = 1,  /* to show with a line for each thing that the qdisc needs (report.h) */
	HOST_ATTACH = 2,  /* to attach: what can be told without delay */
	HOST_UNLOAD = 4,  /* only the rights to unload */
	HOST_REFUSED = 8, /* why the kernel may refuse our programs */
};

/* Is it all there? If not, the first thing that is missing is reported; HOST_REPORT shows them all.
 * Changes nothing.
 */
bool host_passes(enum host_need need);

/* Report why the kernel refused our programs, for this errno. Always false. To find out means to
 * read its type information, as libbpf does for each load, at the cost of a third of one, and to
 * load programs: so it is not asked before.
 */
bool host_refused(int error);

#endif /* HOST_H */
