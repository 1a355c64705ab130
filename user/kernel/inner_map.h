/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that stand in an array of maps, each as long as it has to be. Their values are a struct
 * with more than bytes (a lock, lists, packets), of which the kernel must know the same types as
 * the BPF programs: those that they were loaded with, as BTF.
 */
#ifndef INNER_MAP_H
#define INNER_MAP_H

#include <linux/types.h>

/* The types that a map was made with: a new fd, or -errno. -EPERM: only who has CAP_SYS_ADMIN may
 * look.
 */
int map_types(int map);

/* The values of an array. */
struct inner_value {
	int types; /* -1: they are but bytes */
	__u32 key_id, id;
	__u32 size;
};

/* Find a struct among types: 0, or -errno (-ENOENT: there is none). */
int inner_value_find(int types, const char *name, struct inner_value *value);

/* Make an array of so many: a new fd, or -errno. */
int inner_map_make(const char *name, const struct inner_value *value, __u32 length);

/* What is in a place of an array of maps: 1: a map, 0: nothing; or -errno. */
int inner_map_look(int outer, __u32 place);

#endif /* INNER_MAP_H */
