/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Network namespaces: the one that we are in, and others. */
#ifndef NETNS_H
#define NETNS_H

#include <linux/types.h>
#include <stdbool.h>

#define NETNS_DIR "/run/netns" /* where `ip netns` has those with a name */

/* Its cookie, as struct dualpi2_key has it; 0: the kernel does not say, which is reported. */
__u64 netns_cookie(void);

/* The same, asked once: of a tool that stays in it from then on. */
__u64 netns_current(void);

/* Go to the one of a name, or of a path. 0, -ENOENT: there is none; another -errno: we may not. */
int netns_enter(const char *name);

/* The handle of a namespace, from name_to_handle_at(2) (Linux 6.18). It opens the namespace as long
 * as a mount, an open file or a process holds it, and is never reused.
 */
#define NETNS_HANDLE_BYTES 16

struct netns_handle {
	__u32 size; /* of `bytes` that are used */
	__s32 type;
	__u8 bytes[NETNS_HANDLE_BYTES];
};

/* The handle of the one we are in. 0, or -errno. */
int netns_handle(struct netns_handle *handle);

/* May a process with the rights for it go where a handle leads? Only one in the first namespace of
 * processes (may_see_all_namespaces() of fs/nsfs.c, Linux 7.0).
 */
bool netns_handles_open_here(void);

/* Go there. 0, or -errno: it has ended, or only sockets are left of it, or we may not. */
int netns_enter_handle(const struct netns_handle *handle);

/* Has the one with this cookie ended? `find`: a program that looks for it (bpf/find_netns.bpf.h).
 * 1, 0, or -errno: unknown.
 */
int netns_has_ended(int find, __u64 cookie);

#endif /* NETNS_H */
