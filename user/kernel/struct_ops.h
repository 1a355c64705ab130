/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Qdiscs and congestion controls that BPF programs have registered with the kernel, whoever loaded
 * them and wherever they are pinned.
 */
#ifndef STRUCT_OPS_H
#define STRUCT_OPS_H

#include <linux/types.h>

/* Has somebody registered a struct_ops of this type ("tcp_congestion_ops") with this name in its
 * member ("name")? 1, 0, or -errno: unknown. -EPERM: only who has CAP_SYS_ADMIN may look.
 */
int struct_ops_look(const char *type, const char *member, const char *name);

/* The number of the map with the struct_ops that a link registers; 0: it registers none any more;
 * -errno.
 */
__s64 struct_ops_map(int link);

/* Has that map this name, if there is one: 1, 0, or -errno. -EPERM: only who has CAP_SYS_ADMIN may
 * look.
 */
int struct_ops_map_is(int link, const char *name);

#endif /* STRUCT_OPS_H */
