/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is there a network namespace with this cookie? What a program that looks for it answers
 * (bpf/find_netns.bpf.h).
 */
#ifndef DUALPI2_FIND_NETNS_H
#define DUALPI2_FIND_NETNS_H

enum netns_answer {
	NETNS_NONE,
	NETNS_FOUND,
	NETNS_UNKNOWN, /* it has looked through NETNS_LOOKED_THROUGH of them */
};

#define NETNS_LOOKED_THROUGH (1U << 20)

#endif /* DUALPI2_FIND_NETNS_H */
