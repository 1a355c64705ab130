// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/map_shape.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool fits(__u32 is, __u32 wanted)
{
	return !wanted || is == wanted;
}

int map_has_shape(int map, const struct map_shape *shape)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_map_get_info_by_fd(map, &info, &size))
		return -errno;
	return (!shape->name || !strcmp(info.name, shape->name)) && fits(info.type, shape->type) &&
	       fits(info.key_size, shape->key_size) && fits(info.value_size, shape->value_size) &&
	       fits(info.max_entries, shape->max_entries);
}
