/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a BPF map has to be like before anything is read from it: the kernel writes as many bytes as
 * the map's values have, whatever room there is.
 */
#ifndef MAP_SHAPE_H
#define MAP_SHAPE_H

#include <linux/types.h>

/* 0, NULL: any. */
struct map_shape {
	const char *name;
	__u32 type; /* BPF_MAP_TYPE_* */
	__u32 key_size, value_size, max_entries;
};

/* 1, 0, or -errno. */
int map_has_shape(int map, const struct map_shape *shape);

#endif /* MAP_SHAPE_H */
