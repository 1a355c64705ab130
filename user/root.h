/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is at the root of an interface, and whose it is. */
#ifndef ROOT_H
#define ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "netlink.h"

enum root_owner {
	ROOT_AUTOMATIC, /* the kernel's default one, or none: may go without a question */
	ROOT_OURS,	/* bpf_dualpi2, whoever attached it */
	ROOT_FOREIGN,	/* somebody configured it */
};

enum root_owner root_owner(const struct qdisc *root);

/* Can this foreign root qdisc be put back exactly as it is, from what the kernel shows
 * of it? If not, `why` says what would be lost. Returns false, with a report
 * (message.h), if that cannot be found out.
 */
#define ROOT_WHY_MAX 128
bool root_restorable(int ifindex, const struct qdisc *root, bool *restorable, char *why);

#endif /* ROOT_H */
