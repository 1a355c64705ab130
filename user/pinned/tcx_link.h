/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of tcx programs that are pinned, and whether they are on an interface. */
#ifndef TCX_LINK_H
#define TCX_LINK_H

#include <linux/bpf.h>
#include <stdbool.h>

#define TCX_PROGRAMS_MAX 64 /* BPF_MPROG_MAX, include/linux/bpf_mprog.h */

/* What a link runs, and where: tcx.ifindex is 0 if its interface is gone. 0, or -errno. */
int tcx_link_info(int fd, struct bpf_link_info *info);

/* The same of a pinned one (pins.h): 1; 0: there is none; -errno: unknown (-EISDIR, -EPROTO: its
 * place has something else).
 */
int tcx_link_look(const char *dir, const char *name, struct bpf_link_info *info);

/* Is a link on that interface of this network namespace? An interface of another one may have the
 * number. -EPERM: we may not ask.
 */
int tcx_link_is_on(const struct bpf_link_info *info, __u32 ifindex, enum bpf_attach_type type);

#define TCX_REFUSAL_MAX 160

/* Why the kernel does not attach a program to an interface: what to say behind its name. */
const char *tcx_link_refusal(int error, char why[TCX_REFUSAL_MAX]);

#endif /* TCX_LINK_H */
