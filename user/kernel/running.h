/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel that runs: its release, its types, and what it has. */
#ifndef RUNNING_H
#define RUNNING_H

#include <stdbool.h>

struct btf;

/* Is this release ("7.2.12-amd64") before a version? Not if it does not say which it is. */
bool release_is_before(const char *release, unsigned int version, unsigned int minor);

/* Its types, 5 MB that are read once; NULL, with errno: they cannot be read. */
const struct btf *kernel_types(void);

/* Report that it has refused a BPF program, with this errno. Returns false. */
bool refuse_load(int error);

/* A member of a struct among these types: where it is, bytes; -1: there is none. */
int type_member(const struct btf *types, const char *type, const char *member);

/* Has it a struct of that name? 1, 0, or -errno: see kernel_types(). */
int kernel_has_struct(const char *name);

/* Has it a TCP congestion control of that name, which we may choose? 1, 0, or -errno. Loads
 * its module.
 */
int kernel_has_congestion(const char *name);

/* Ask for a congestion control. False, with errno: it cannot be had. */
bool socket_ask_for(int fd, const char *congestion);

#endif /* RUNNING_H */
