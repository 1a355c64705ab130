/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of tcx programs that are pinned, and whether they are on an interface. */
#ifndef TCX_LINK_H
#define TCX_LINK_H

#include <linux/bpf.h>
#include <stdbool.h>

#define TCX_PROGRAMS_MAX 64 /* BPF_MPROG_MAX, include/linux/bpf_mprog.h */

/* Attach a program to an interface. `flags`: BPF_F_BEFORE: in front of all others; 0: behind them.
 * A link, or -errno.
 */
int tcx_link_create(int program, int ifindex, enum bpf_attach_type type, __u32 flags);

/* Report that it fails with this errno. Always false. */
bool tcx_link_refuse(int error, const char *ifname);

/* Read the program and the place of a pinned link (pins.h): tcx.ifindex is 0 if its interface is
 * gone. 1; 0: there is none; -errno: unknown (-EISDIR, -EPROTO: its place has something else).
 */
int tcx_link_look(const char *dir, const char *name, struct bpf_link_info *info);

/* Is a link on that interface of this network namespace? An interface of another one may have the
 * number. -EPERM: we may not ask.
 */
int tcx_link_is_on(const struct bpf_link_info *info, __u32 ifindex, enum bpf_attach_type type);

/* Remove the pinned links whose names begin so, and whose interfaces are gone. */
void tcx_links_sweep(const char *dir, const char *prefix);

#endif /* TCX_LINK_H */
