// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/object_shape.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_LENGTH (BPF_OBJ_NAME_LEN - 1)

/* The names of their files (kernel/bpf/syscall.c). That of a link is bpf_link or bpf-link. */
static const char *const files[] = {
	[OBJECT_MAP] = "bpf-map",
	[OBJECT_PROGRAM] = "bpf-prog",
	[OBJECT_LINK] = "bpf_link",
};

/* 1, 0, or -errno. */
static int is_object(int fd, enum object object)
{
	static const char prefix[] = "anon_inode:bpf";
	char path[32], name[64] = "";
	const char *const wanted = files[object] + strlen("bpf-");

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, name, sizeof(name) - 1) < 0)
		return errno == ENOENT ? -ENXIO : -errno; /* no /proc: unknown */
	return !strncmp(name, prefix, strlen(prefix)) && !strcmp(name + strlen(prefix) + 1, wanted);
}

int object_read_info(int fd, void *info, __u32 size)
{
	memset(info, 0, size);
	return bpf_obj_get_info_by_fd(fd, info, &size);
}

__u32 object_id(int fd)
{
	struct { /* as all of them begin */
		__u32 type, id;
	} info;

	return object_read(fd, &info) ? 0 : info.id;
}

static bool fits(__u32 is, __u32 wanted)
{
	return !wanted || is == wanted;
}

/* libbpf gives an object no name if it could not find out whether the kernel takes names. */
static bool begins(const char *name, const char *wanted, size_t length)
{
	return !*name || !strncmp(name, wanted, length);
}

static bool is_called(const char *name, const char *wanted)
{
	return !wanted || begins(name, wanted, NAME_LENGTH);
}

static int is_map(int fd, const struct object_shape *shape)
{
	struct bpf_map_info info;
	int error = object_read(fd, &info);

	if (error)
		return error;
	return is_called(info.name, shape->name) && fits(info.type, shape->type) &&
	       fits(info.key_size, shape->key_size) && fits(info.value_size, shape->value_size) &&
	       fits(info.max_entries, shape->max_entries);
}

static int is_program(int fd, const struct object_shape *shape)
{
	struct bpf_prog_info info;
	int error = object_read(fd, &info);

	if (error)
		return error;
	return is_called(info.name, shape->name) && fits(info.type, shape->type);
}

static int is_link(int fd, const struct object_shape *shape)
{
	struct bpf_link_info info;

	return object_read(fd, &info) ?: fits(info.type, shape->type);
}

int object_has_shape(int fd, const struct object_shape *shape)
{
	static int (*const is[])(int fd, const struct object_shape *shape) = {
		[OBJECT_MAP] = is_map,
		[OBJECT_PROGRAM] = is_program,
		[OBJECT_LINK] = is_link,
	};
	int found = is_object(fd, shape->object);

	return found > 0 ? is[shape->object](fd, shape) : found;
}

int object_next(enum object object, __u32 *id)
{
	static const struct {
		int (*next)(__u32 id, __u32 *next);
		int (*open)(__u32 id);
	} ways[] = {
		[OBJECT_MAP] = { bpf_map_get_next_id, bpf_map_get_fd_by_id },
		[OBJECT_PROGRAM] = { bpf_prog_get_next_id, bpf_prog_get_fd_by_id },
		[OBJECT_LINK] = { bpf_link_get_next_id, bpf_link_get_fd_by_id },
	};
	int fd = -ENOENT;

	while (fd == -ENOENT && !ways[object].next(*id, id))
		fd = ways[object].open(*id); /* -ENOENT: it has just gone */
	return fd == -ENOENT ? -errno : fd;
}

int programs_are_loaded(const char *prefix)
{
	int fd, found = 0;
	__u32 id = 0;

	while (!found && (fd = object_next(OBJECT_PROGRAM, &id)) >= 0) {
		struct bpf_prog_info info;

		found = object_read(fd, &info) ?: begins(info.name, prefix, strlen(prefix));
		close(fd);
	}
	return found || fd == -ENOENT ? found : fd;
}
