/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BPF maps that are arrays. */
#ifndef ARRAY_MAP_H
#define ARRAY_MAP_H

#include <linux/types.h>
#include <stddef.h>

/* Read the first `count` elements into `values`, which stays as it is where the map ends before. 0,
 * or -errno.
 */
int array_map_read(int map, __u32 count, void *values);

/* See all `size` bytes of one of BPF_F_MMAPABLE, as they change: 0, or -errno. munmap() it. */
int array_map_see(int map, size_t size, const void **values);

#endif /* ARRAY_MAP_H */
