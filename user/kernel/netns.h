/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Network namespaces: the one that we are in, and others. */
#ifndef NETNS_H
#define NETNS_H

#include <linux/types.h>

#define NETNS_DIR "/run/netns" /* where `ip netns` has those with a name */

/* Its cookie, as struct dualpi2_key has it; 0: the kernel does not say, which is reported. */
__u64 netns_cookie(void);

/* The same, asked once: of a tool that stays in it from then on. */
__u64 netns_current(void);

/* Go to the one of a name, or of a path. 0, -ENOENT: there is none; another -errno: we may not. */
int netns_enter(const char *name);

/* Has the one with this cookie ended? `find`: a program that looks for it (bpf/find_netns.bpf.h).
 * 1, 0, or -errno: unknown.
 */
int netns_has_ended(int find, __u64 cookie);

#endif /* NETNS_H */
