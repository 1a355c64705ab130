// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/struct_ops.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/object_shape.h"
#include "kernel/running.h"

/* enum bpf_struct_ops_state of kernel/bpf/bpf_struct_ops.c: registered without a link. */
#define STATE_INUSE 1

/* How the kernel shows such a map: the type of its only value, and where in that the state and the
 * name are.
 */
struct shown {
	__u32 type;
	__u32 state;
	__u32 name;
};

static int find_shown(const char *type, const char *member, struct shown *shown)
{
	const struct btf *types = kernel_types();
	char value[128];
	int common, state, data, name, id;

	if (!types)
		return -errno;
	snprintf(value, sizeof(value), "bpf_struct_ops_%s", type);
	id = btf__find_by_name_kind(types, value, BTF_KIND_STRUCT);
	common = type_member(types, value, "common");
	state = type_member(types, "bpf_struct_ops_common_value", "state");
	data = type_member(types, value, "data");
	name = type_member(types, type, member);
	if (id < 0 || common < 0 || state < 0 || data < 0 || name < 0)
		return -ENOENT;
	*shown = (struct shown){ (__u32)id, (__u32)(common + state), (__u32)(data + name) };
	return 0;
}

__s64 struct_ops_map(int link)
{
	struct bpf_link_info info;
	int error = object_read(link, &info);

	if (error)
		return error;
	return info.type == BPF_LINK_TYPE_STRUCT_OPS ? info.struct_ops.map_id : 0;
}

int struct_ops_map_is(int link, const char *name)
{
	const struct object_shape shape = { .name = name, .type = BPF_MAP_TYPE_STRUCT_OPS };
	const __s64 id = struct_ops_map(link);
	int map, found;

	if (id <= 0)
		return id ? (int)id : 1;
	map = bpf_map_get_fd_by_id((__u32)id);
	if (map < 0)
		return map;
	found = object_has_shape(map, &shape);
	close(map);
	return found;
}

/* Is there a link that has it registered: 1, 0, or -errno. A map outlives its registration as long
 * as something that came from it is in use.
 */
static int has_link(__u32 map)
{
	__s64 found = 0;
	__u32 id = 0;
	int link;

	while (found >= 0 && found != map && (link = object_next(OBJECT_LINK, &id)) >= 0) {
		found = struct_ops_map(link);
		close(link);
	}
	if (found == map)
		return 1;
	return found < 0 ? (int)found : link == -ENOENT ? 0 : link;
}

/* Is it of that name, and registered: 1, 0, or -errno. */
static int registers(int map, const struct shown *shown, const char *name)
{
	const size_t length = strlen(name) + 1;
	struct bpf_map_info info;
	__u32 zero = 0, state;
	char *value;
	int found = object_read(map, &info);

	if (found)
		return found;
	if (info.type != BPF_MAP_TYPE_STRUCT_OPS || info.btf_vmlinux_value_type_id != shown->type ||
	    info.value_size < shown->name + length ||
	    info.value_size < shown->state + sizeof(state))
		return 0;
	value = malloc(info.value_size);
	if (!value)
		return -ENOMEM;
	found = bpf_map_lookup_elem(map, &zero, value) ? -errno
						       : !memcmp(value + shown->name, name, length);
	memcpy(&state, value + shown->state, sizeof(state));
	free(value);
	return found > 0 && state != STATE_INUSE ? has_link(info.id) : found;
}

int struct_ops_look(const char *type, const char *member, const char *name)
{
	struct shown shown = {};
	int map, found = find_shown(type, member, &shown);
	__u32 id = 0;

	if (found)
		return found == -ENOENT ? 0 : found; /* the kernel has no such type */
	while (!found && (map = object_next(OBJECT_MAP, &id)) >= 0) {
		found = registers(map, &shown, name);
		close(map);
	}
	return found || map == -ENOENT ? found : map;
}
