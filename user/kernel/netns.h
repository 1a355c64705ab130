/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network namespace that we are in, and stay in. */
#ifndef NETNS_H
#define NETNS_H

#include <linux/types.h>
#include <stdbool.h>

/* Its cookie, as struct dualpi2_key has it. False, with a report (message.h): the kernel does not
 * say.
 */
bool netns_current(__u64 *netns);

/* Is it that one? */
bool netns_is_current(__u64 netns);

#endif /* NETNS_H */
