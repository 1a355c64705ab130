/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF objects of the kernel: look what one is before it is used. The kernel writes as many
 * bytes as a map's values have, whatever room there is; and a query for a map takes the descriptor
 * of any object.
 */
#ifndef OBJECT_SHAPE_H
#define OBJECT_SHAPE_H

#include <linux/types.h>

enum object {
	OBJECT_MAP,
	OBJECT_PROGRAM,
	OBJECT_LINK,
};

/* 0, NULL: any. */
struct object_shape {
	const char *name; /* of a map or a program; may be longer than the kernel keeps */
	__u32 type;	  /* BPF_MAP_TYPE_*, BPF_PROG_TYPE_*, BPF_LINK_TYPE_* */
	__u32 key_size, value_size, max_entries; /* of a map */
	enum object object;
};

/* 1, 0, or -errno. */
int object_has_shape(int fd, const struct object_shape *shape);

/* Read what the kernel says of an object into a struct bpf_map_info, or its like: 0, or -errno. */
#define object_read(fd, info) object_read_info(fd, info, sizeof(*(info)))
int object_read_info(int fd, void *info, __u32 size);

/* The id of a map, a program or a link; 0, with errno: unknown. */
__u32 object_id(int fd);

/* The next one behind this id: a new fd; -ENOENT: there is none; -errno. -EPERM: only who has
 * CAP_SYS_ADMIN may look.
 */
int object_next(enum object object, __u32 *id);

/* Is a program loaded whose name begins so, or may: 1, 0, or -errno, as above: unknown. */
int programs_are_loaded(const char *prefix);

#endif /* OBJECT_SHAPE_H */
