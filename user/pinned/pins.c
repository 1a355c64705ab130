// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/pins.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/lock.h"

#define LOCK_WAIT_MS 10000
#define LOCK_POLL_MS 20
#define NOT_SAFE (-1) /* beside errnos */

static const char *root = PIN_DIR, *tool = "dualpi2-load";

void pins_belong_to(const char *directory, const char *program)
{
	root = directory;
	tool = program;
}

/* 1, 0, or -errno: unknown. */
static int exists(const char *path)
{
	if (!faccessat(AT_FDCWD, path, F_OK, AT_EACCESS))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

/* Where the pins are, or their directory will be. */
static const char *place(void)
{
	return exists(root) ? root : BPFFS;
}

bool pins_are_writable(void)
{
	return !faccessat(AT_FDCWD, place(), W_OK | X_OK, AT_EACCESS);
}

void pins_keep_privilege(unsigned int privileges)
{
	struct stat dir;
	const bool is_own = !stat(place(), &dir) && dir.st_uid == geteuid();

	privilege_keep(is_own ? privileges : privileges | PRIVILEGE_FILES);
}

static bool is_ours_or_roots(const struct stat *dir)
{
	return !dir->st_uid || dir->st_uid == geteuid();
}

static bool only_owner_writes(const struct stat *dir)
{
	return !(dir->st_mode & (S_IWGRP | S_IWOTH));
}

/* Can nobody else put pins into the directory: 1, 0, or -errno: unknown. Where everybody may write
 * to the file system, as in one that was mounted without a mode, anybody could have made it before
 * us.
 */
static int is_safe(const struct stat *dir)
{
	struct stat fs;

	if (stat(BPFFS, &fs))
		return -errno;
	return S_ISDIR(dir->st_mode) && only_owner_writes(dir) &&
	       (is_ours_or_roots(dir) || only_owner_writes(&fs));
}

/* A directory that nobody else can put pins into: an fd, or -errno; -EPERM: it is not one. */
static int open_safe(const char *path)
{
	int safe, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat dir;

	if (fd < 0)
		return -errno;
	safe = fstat(fd, &dir) ? -errno : is_safe(&dir);
	if (safe > 0)
		return fd;
	close(fd);
	return safe ? safe : -EPERM;
}

static void report_kept(const char *path)
{
	fail(errno, "%s: cannot be removed: check that " BPFFS " is writable", path);
}

/* One that has something in it stays, as does one that is not ours to remove. */
static void remove_directory(const char *path)
{
	if (rmdir(path) && errno != ENOENT && errno != ENOTEMPTY && errno != EACCES &&
	    errno != EPERM)
		report_kept(path);
}

/* One try: 0, an errno, or NOT_SAFE. EWOULDBLOCK: somebody has the lock. */
static int try_lock(void)
{
	int fd, error;

	if (mkdir(root, 0700) && errno != EEXIST)
		return errno;
	fd = open_safe(root);
	if (fd == -EPERM)
		return NOT_SAFE;
	if (fd < 0)
		return fd == -ENOENT ? EWOULDBLOCK : -fd;
	error = lock_directory(fd, root);
	if (error)
		close(fd);
	return error; /* the fd stays open, and so locked, until we exit */
}

bool pins_lock(void)
{
	const struct timespec poll = { .tv_nsec = LOCK_POLL_MS * 1000000L };
	int error;

	for (int waited_ms = 0; waited_ms < LOCK_WAIT_MS; waited_ms += LOCK_POLL_MS) {
		error = try_lock();
		if (!error)
			return true;
		if (error == NOT_SAFE)
			return fail(0,
				    "%s: others than its owner or root could have put pins there: "
				    "`rm -r %s`",
				    root, root);
		if (error == EACCES)
			return fail(error, "%s: you may not open or make it: run it %s", root,
				    privilege_as_root(PRIVILEGE_FILES));
		if (error != EWOULDBLOCK) {
			rmdir(root); /* ours, if it is empty */
			return fail(error,
				    "%s: cannot be created or locked: check that " BPFFS
				    " is writable, and that no seccomp filter forbids it",
				    root);
		}
		nanosleep(&poll, NULL);
	}
	return fail(EWOULDBLOCK,
		    "%s: another %s has been working for 10 s: wait for it, or end it, and try "
		    "again",
		    root, tool);
}

bool pins_lock_if_any(void)
{
	int found = bpffs_look();

	if (found <= 0)
		return !found;
	return !exists(root) || pins_lock(); /* which says why, if that is unknown */
}

static const char *pin_path(const char *top, const char *dir, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s/%s", top, dir, name);
	return path;
}

void pins_remove_directory(const char *dir)
{
	char path[PATH_MAX];

	remove_directory(pin_path(root, dir, "", path));
}

int pin_open(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd = bpf_obj_get(pin_path(root, dir, name, path));

	return fd < 0 ? -errno : fd;
}

/* `fd`, if it is a map of this shape; or -errno, and it is closed. */
static int expect_shape(int fd, const struct map_shape *shape)
{
	const bool is_any = !shape->key_size && !shape->value_size;
	int fits = fd < 0 ? fd : is_any ? 1 : map_has_shape(fd, shape);

	if (fits > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return fits ? fits : -EPROTO;
}

int pin_open_map(const char *dir, const char *name, const struct map_shape *shape)
{
	return expect_shape(pin_open(dir, name), shape);
}

int pin_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return exists(pin_path(root, dir, name, path));
}

bool pin_create(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if ((mkdir(pin_path(root, dir, "", path), 0700) && errno != EEXIST) ||
	    bpf_obj_pin(fd, pin_path(root, dir, name, path)))
		return fail(errno, "%s: cannot be pinned there: check that " BPFFS " is writable",
			    path);
	verbose("pinned %s", path);
	return true;
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
	const struct map_shape shape = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(__u32),
		.value_size = (__u32)size,
		.max_entries = 1,
	};
	int error, map = pin_open_map(dir, name, &shape);
	const __u32 zero = 0;

	if (map < 0)
		return map;
	error = bpf_map_lookup_elem(map, &zero, value);
	close(map);
	return error;
}

void pin_forget(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!unlink(pin_path(root, dir, name, path)))
		verbose("removed %s", path);
	else if (errno != ENOENT)
		report_kept(path);
}

void pin_remove(const char *dir, const char *name)
{
	int fd = pin_open(dir, name);

	pin_forget(dir, name);
	if (fd < 0)
		return;
	/* Maps and programs refuse this, which is fine. */
	bpf_link_detach(fd);
	close(fd);
}

DIR *pins_list(const char *dir)
{
	char path[PATH_MAX];
	DIR *pins = opendir(pin_path(root, dir, "", path));

	if (!pins)
		expect_known(errno == ENOENT ? 0 : -errno, "%s", path);
	return pins;
}

const char *pins_next(DIR *pins, const char *prefix)
{
	const struct dirent *entry;

	while (pins && (entry = readdir(pins))) {
		if (entry->d_type != DT_DIR && !strncmp(entry->d_name, prefix, strlen(prefix)))
			return entry->d_name;
	}
	if (pins)
		closedir(pins);
	return NULL;
}

void pins_remove_all(const char *dir)
{
	DIR *pins = pins_list(dir);
	const char *name;

	while ((name = pins_next(pins, "")))
		pin_remove(dir, name);
	pins_remove_directory(dir);
}

/* ---- for everybody ----------------------------------------------------------------- */

bool pins_are_hidden(void)
{
	return faccessat(AT_FDCWD, root, R_OK | W_OK | X_OK, AT_EACCESS) &&
	       (errno == EACCES || errno == EROFS);
}

/* Can nobody but its owner or root have put something there: 0, or -errno. Who may not open it may
 * pass all the same.
 */
static int trust(const char *path)
{
	struct stat dir;
	int safe = lstat(path, &dir) ? -errno : is_safe(&dir);

	return safe > 0 ? 0 : safe ?: -EPROTO;
}

int pin_open_public(const char *dir, const char *name, const struct map_shape *shape)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);
	char path[PATH_MAX];
	int fd, error = trust(PUBLIC_PIN_DIR) ?: trust(pin_path(PUBLIC_PIN_DIR, dir, "", path));

	if (error)
		return error;
	fd = bpf_obj_get_opts(pin_path(PUBLIC_PIN_DIR, dir, name, path), &opts);
	return expect_shape(fd < 0 ? -errno : fd, shape);
}

/* Make a directory, if there is none, that everybody may read. 0, or an errno. */
static int make_public(const char *path)
{
	int fd, error = 0;

	if (mkdir(path, 0755) && errno != EEXIST)
		return errno;
	fd = open_safe(path);
	if (fd < 0)
		return -fd;
	if (fchmod(fd, 0755))
		error = errno;
	close(fd);
	return error;
}

static int publish(int fd, const char *dir, const char *name, char path[PATH_MAX])
{
	int error =
		make_public(PUBLIC_PIN_DIR) ?: make_public(pin_path(PUBLIC_PIN_DIR, dir, "", path));

	if (!error &&
	    (bpf_obj_pin(fd, pin_path(PUBLIC_PIN_DIR, dir, name, path)) || chmod(path, 0444)))
		error = errno;
	return error;
}

bool pin_publish(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s", PUBLIC_PIN_DIR);
	error = publish(fd, dir, name, path);

	if (error && error != EACCES && error != EPERM)
		return fail(error, "%s: cannot be pinned there: check that " BPFFS " is writable",
			    path);
	if (error)
		verbose("%s: not ours to write: only we can read statistics", path);
	return true;
}

void pins_unpublish(const char *dir)
{
	char path[PATH_MAX];
	int parent = open_safe(PUBLIC_PIN_DIR);
	int fd = parent < 0 ? -1 : open_safe(pin_path(PUBLIC_PIN_DIR, dir, "", path));
	DIR *pins = fd < 0 ? NULL : fdopendir(fd);
	const char *name;

	while (pins && (name = pins_next(pins, ""))) {
		if (unlinkat(fd, name, 0))
			report_kept(path);
	}
	if (pins)
		remove_directory(path);
	if (parent >= 0) {
		close(parent);
		remove_directory(PUBLIC_PIN_DIR);
	}
}
