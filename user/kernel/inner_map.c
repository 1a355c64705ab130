// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/inner_map.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "kernel/object_shape.h"

int map_types(int map)
{
	struct bpf_map_info info;
	int error = object_read(map, &info);

	if (error)
		return error;
	return info.btf_id ? bpf_btf_get_fd_by_id(info.btf_id) : -ENOENT;
}

/* btf__load_from_kernel_by_id() would take the right to look for the id once more. */
static struct btf *read_types(int types)
{
	struct bpf_btf_info info = {};
	__u32 size = sizeof(info);
	struct btf *btf = NULL;
	void *bytes = NULL;

	if (!bpf_btf_get_info_by_fd(types, &info, &size))
		bytes = malloc(info.btf_size);
	if (!bytes)
		return NULL;
	info = (struct bpf_btf_info){ .btf = (__u64)(uintptr_t)bytes, .btf_size = info.btf_size };
	size = sizeof(info);
	if (!bpf_btf_get_info_by_fd(types, &info, &size))
		btf = btf__new(bytes, info.btf_size);
	free(bytes);
	return btf;
}

int inner_value_find(int types, const char *name, struct inner_value *value)
{
	struct btf *btf = read_types(types);
	int error = btf ? 0 : -errno, key, id;

	if (error)
		return error;
	key = btf__find_by_name_kind(btf, "unsigned int", BTF_KIND_INT);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	if (key < 0 || id < 0)
		error = -ENOENT;
	else
		*value = (struct inner_value){
			.types = types,
			.key_id = (__u32)key,
			.id = (__u32)id,
			.size = btf__type_by_id(btf, (__u32)id)->size,
		};
	btf__free(btf);
	return error;
}

int inner_map_make(const char *name, const struct inner_value *value, __u32 length)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	int map;

	if (value->types >= 0) {
		opts.btf_fd = (__u32)value->types;
		opts.btf_key_type_id = value->key_id;
		opts.btf_value_type_id = value->id;
	}
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), value->size, length, &opts);
	return map < 0 ? -errno : map;
}

int inner_map_look(int outer, __u32 place)
{
	__u32 id;

	if (!bpf_map_lookup_elem(outer, &place, &id))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}
