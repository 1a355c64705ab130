// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/pins.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"

/* A new fd, or -errno; -EISDIR: a directory is in its place. */
static int get(const char *path, __u32 flags)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = flags);
	int fd = bpf_obj_get_opts(path, &opts), error = errno;
	struct stat file;

	if (fd >= 0)
		return fd;
	return !lstat(path, &file) && S_ISDIR(file.st_mode) ? -EISDIR : -error;
}

int pin_open(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int error = pin_dir_trust(pin_path(dir, "", path));

	return error ?: get(pin_path(dir, name, path), 0);
}

/* `fd`, if it is an object of this shape; or -errno, and it is closed. */
static int expect_shape(int fd, const struct object_shape *shape)
{
	int fits = fd < 0 ? fd : object_has_shape(fd, shape);

	if (fits > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return fits ? fits : -EPROTO;
}

int pin_open_as(const char *dir, const char *name, const struct object_shape *shape)
{
	return expect_shape(pin_open(dir, name), shape);
}

bool pin_refuse(int error, const char *dir, const char *name)
{
	char path[PATH_MAX];

	pin_path(dir, name, path);
	if (error == -EISDIR)
		return fail(0, "%s: is a directory, not a pin: `rm -r %s`", path, path);
	if (error == -EUCLEAN)
		return pin_dir_refuse(pin_path(dir, "", path));
	if (error == -EPROTO)
		return fail(0,
			    "%s: is not what was pinned there, which may still be at work: "
			    "`rm %s`",
			    path, path);
	if (error != -EACCES && error != -EPERM)
		return expect_known(error, "%s", path) >= 0;
	return fail(-error, "%s: cannot be opened: run it %s", path,
		    privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
}

int pin_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return pin_dir_exists(pin_path(dir, name, path));
}

bool pin_create(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if ((mkdir(pin_path(dir, "", path), 0700) && errno != EEXIST) ||
	    bpf_obj_pin(fd, pin_path(dir, name, path)))
		return fail(errno, "%s: cannot be pinned there: check that " BPFFS " is writable",
			    path);
	verbose("pinned %s", path);
	return true;
}

bool pin_link(int link, const char *dir, const char *name)
{
	const bool pinned = pin_create(link, dir, name);

	if (!pinned)
		bpf_link_detach(link);
	close(link);
	return pinned;
}

const char *pin_numbered(const char *prefix, __u64 number, char name[PIN_NAME_MAX])
{
	snprintf(name, PIN_NAME_MAX, "%s%llu", prefix, number);
	return name;
}

__u64 pin_number(const char *name)
{
	const char *dash = strrchr(name, '-');

	return strtoull(dash ? dash + 1 : name, NULL, 10);
}

int fd_of_our_own(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

bool pin_value(const char *dir, const char *name, const void *value, size_t size)
{
	const __u32 zero = 0;
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "value", sizeof(zero), size, 1, NULL);
	bool pinned;

	if (map < 0)
		return fail(errno, "the kernel refuses to create a BPF map: %s", strerror(errno));
	pinned = (!bpf_map_update_elem(map, &zero, value, BPF_ANY) ||
		  fail(errno, "the kernel refuses a value: %s", strerror(errno))) &&
		 pin_create(map, dir, name);
	close(map);
	return pinned;
}

int pin_read(const char *dir, const char *name, void *value, size_t size)
{
	const struct object_shape shape = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(__u32),
		.value_size = (__u32)size,
		.max_entries = 1,
	};
	int error, map = pin_open_as(dir, name, &shape);
	const __u32 zero = 0;

	if (map < 0)
		return map;
	error = bpf_map_lookup_elem(map, &zero, value);
	close(map);
	return error;
}

bool pin_forget(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!unlink(pin_path(dir, name, path))) {
		verbose("removed %s", path);
		return true;
	}
	return errno == ENOENT || pin_dir_report_kept(path);
}

static int open_link(const char *dir, const char *name)
{
	static const struct object_shape link = { .object = OBJECT_LINK };

	return pin_open_as(dir, name, &link);
}

static void end_link(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX];

	pin_forget(dir, name);
	if (bpf_link_detach(fd))
		fail(errno, "%s: the kernel refuses to detach this link: %s",
		     pin_path(dir, name, path), strerror(errno));
	close(fd);
}

void pin_remove(const char *dir, const char *name)
{
	int fd = open_link(dir, name);

	if (fd >= 0)
		end_link(fd, dir, name);
	else if (fd != -ENOENT)
		pin_refuse(fd, dir, name);
}

DIR *pins_list(const char *dir)
{
	char path[PATH_MAX];
	DIR *pins = opendir(pin_path(dir, "", path));

	if (!pins)
		expect_known(errno == ENOENT ? 0 : -errno, "%s", path);
	return pins;
}

const char *pins_next(DIR *pins, const char *prefix)
{
	const struct dirent *entry;

	while (pins && (entry = readdir(pins))) {
		if ((*prefix || entry->d_type != DT_DIR) &&
		    !strncmp(entry->d_name, prefix, strlen(prefix)))
			return entry->d_name;
	}
	if (pins)
		closedir(pins);
	return NULL;
}

static void remove_any(const char *dir, const char *name)
{
	int link = open_link(dir, name);

	if (link >= 0)
		end_link(link, dir, name);
	else
		pin_forget(dir, name);
}

static void remove_each(const char *dir, void (*remove)(const char *dir, const char *name))
{
	DIR *pins = pins_list(dir);
	const char *name;

	while ((name = pins_next(pins, "")))
		remove(dir, name);
	pins_remove_directory(dir);
}

void pins_remove_all(const char *dir)
{
	remove_each(dir, remove_any);
}

void pins_remove_links(const char *dir)
{
	remove_each(dir, pin_remove);
}

/* ---- for everybody ----------------------------------------------------------------- */

static const char *public_path(const char *dir, const char *name, char path[PATH_MAX])
{
	return pin_dir_path(PUBLIC_PIN_DIR, dir, name, path);
}

int pin_open_public(const char *dir, const char *name, const struct object_shape *shape)
{
	char path[PATH_MAX];
	int error = pin_dir_trust(PUBLIC_PIN_DIR) ?: pin_dir_trust(public_path(dir, "", path));

	return error ?: expect_shape(get(public_path(dir, name, path), BPF_F_RDONLY), shape);
}

bool pin_refuse_public(int error, const char *dir)
{
	char path[PATH_MAX];

	if (error == -EUCLEAN)
		return pin_dir_refuse(pin_dir_trust(PUBLIC_PIN_DIR) ? PUBLIC_PIN_DIR
								    : public_path(dir, "", path));
	return fail(-error,
		    PUBLIC_PIN_DIR ": cannot be read: run it %s, or let everybody look: "
				   "`chmod 711 " BPFFS "`",
		    privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
}

/* Make a directory, if there is none, that everybody may read. 0, or an errno. */
static int make_public(const char *path)
{
	int fd, error = 0;

	if (mkdir(path, 0755) && errno != EEXIST)
		return errno;
	fd = pin_dir_open(path);
	if (fd < 0)
		return -fd;
	if (fchmod(fd, 0755))
		error = errno;
	close(fd);
	return error;
}

static int publish(int fd, const char *dir, const char *name, char path[PATH_MAX])
{
	int error = make_public(PUBLIC_PIN_DIR) ?: make_public(public_path(dir, "", path));

	if (!error && (bpf_obj_pin(fd, public_path(dir, name, path)) || chmod(path, 0444)))
		error = errno;
	return error;
}

bool pin_publish(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s", PUBLIC_PIN_DIR);
	error = publish(fd, dir, name, path);

	if (error && error != EACCES && error != EPERM && error != EUCLEAN)
		return fail(error, "%s: cannot be pinned there: check that " BPFFS " is writable",
			    path);
	if (error)
		verbose("%s: not ours to write: only we can read statistics", path);
	return true;
}

void pins_unpublish(const char *dir)
{
	char path[PATH_MAX];
	int parent = pin_dir_open(PUBLIC_PIN_DIR);
	int fd = parent < 0 ? -1 : pin_dir_open(public_path(dir, "", path));
	DIR *pins = fd < 0 ? NULL : fdopendir(fd);
	const char *name;

	while (pins && (name = pins_next(pins, ""))) {
		if (unlinkat(fd, name, 0))
			pin_dir_report_kept(path);
	}
	if (pins)
		pin_dir_remove(path);
	if (parent >= 0) {
		close(parent);
		pin_dir_remove(PUBLIC_PIN_DIR);
	}
}
