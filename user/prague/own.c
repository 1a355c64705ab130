// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/cgroup.h"
#include "kernel/lock.h"
#include "prague/devices.h"

#define NAME "tcp-prague-"
#define LOCKED "cgroup.kill" /* only its owner may open it; everybody may open the directory */
#define NAMES_TRIED 16
#define EMPTY_WAIT_MS 5000
#define POLL_MS 10
#define TREE_DEPTH 16 /* directories that are open at a time */

int own_tag(char tag[OWN_TAG_MAX])
{
	unsigned int bits;

	if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		return errno;
	snprintf(tag, OWN_TAG_MAX, "%08x", bits);
	return 0;
}

bool own_prague(const char *tag, const char *devices, const struct prague_config *config,
		char name[PRAGUE_NAME_MAX], struct programs *programs)
{
	*programs = PROGRAMS_NONE;
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME);
	/* One that is somebody's, or of `tcp-prague on`, may end before us. */
	if (prague_is_kernels() > 0)
		return true;
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME ".%s", tag);
	return programs_load(name, NULL, programs) && programs_configure(programs, config) &&
	       devices_attach(programs, devices, false);
}

/* ---- the control group ------------------------------------------------------------------ */

/* A run holds a lock in its control group, so one without a lock belongs to a run that has ended,
 * however it did. The number of its process would not tell: numbers are reused, and are those of
 * other processes in another namespace.
 */

/* Lock it: a file descriptor, or -errno. -EWOULDBLOCK, -ENOENT: somebody holds the lock, or has
 * removed the directory.
 */
static int lock(const char *group)
{
	char path[PATH_MAX + sizeof("/" LOCKED)];
	int fd, error;

	snprintf(path, sizeof(path), "%s/" LOCKED, group);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENODEV ? -ENOENT : -errno;
	error = lock_at_once(fd, path);
	if (!error)
		return fd;
	close(fd);
	return -error;
}

/* 0, or an errno. */
static int open_locked(struct own_cgroup *group)
{
	int error;

	group->lock = lock(group->path);
	if (group->lock < 0)
		return -group->lock;
	group->fd = open(group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (group->fd >= 0)
		return 0;
	error = errno;
	close(group->lock);
	return error;
}

/* Make it under a name that nobody has: 0; EEXIST: somebody has that one, or has taken the
 * directory away since; or another errno.
 */
static int try_name(struct own_cgroup *group, const char *parent)
{
	int error = own_tag(group->tag);

	if (error)
		return error;
	if (snprintf(group->path, PATH_MAX, "%s/" NAME "%s", parent, group->tag) >= PATH_MAX)
		return ENAMETOOLONG;
	if (mkdir(group->path, 0755))
		return errno;
	error = open_locked(group);
	if (error == ENOENT || error == EWOULDBLOCK)
		return EEXIST;
	if (error)
		rmdir(group->path);
	return error;
}

static bool refuse(const char *parent, int error)
{
	switch (error) {
	case EAGAIN: /* cgroup_check_hierarchy_limits(), kernel/cgroup/cgroup.c */
		return fail(error,
			    "%s: cgroup.max.descendants or cgroup.max.depth, there or above, "
			    "allows no more control groups: raise it",
			    parent);
	case EROFS:
		return fail(error,
			    "%s: is mounted read-only: `mount -o remount,rw " CGROUP_MOUNT "`",
			    parent);
	case EACCES:
	case EPERM:
		return fail(error, "%s: no control group can be made there: run it %s", parent,
			    privilege_as_root(PRIVILEGE_FILES));
	}
	return fail(error, "%s: no control group can be made there: %s", parent, strerror(error));
}

bool own_cgroup_make(struct own_cgroup *group)
{
	char parent[PATH_MAX];
	int error = EEXIST;

	if (!cgroup_own(parent))
		return false;
	for (int i = 0; error == EEXIST && i < NAMES_TRIED; i++)
		error = try_name(group, parent);
	return !error || refuse(parent, error);
}

static bool write_to(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return written;
}

bool own_cgroup_enter(const struct own_cgroup *group)
{
	return write_to(group->fd, "cgroup.procs", "0") ||
	       fail(errno, "the control group cannot be entered: %s", strerror(errno));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)place;
	return type == FTW_DP && rmdir(path) && errno != ENOENT ? errno : 0;
}

/* Remove it and all below it, which inner runs or the command have made: 0, or an errno. EBUSY: a
 * process is still in there.
 */
static int remove_tree(const char *path)
{
	int error = nftw(path, remove_one, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);

	if (error < 0)
		error = errno == ENOENT ? 0 : errno;
	return error;
}

void own_cgroup_remove(const struct own_cgroup *group)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };

	write_to(group->fd, "cgroup.kill", "1");
	for (int waited_ms = 0; remove_tree(group->path) == EBUSY; waited_ms += POLL_MS) {
		if (waited_ms >= EMPTY_WAIT_MS) {
			fail(EBUSY, "%s: a process in it does not end: see `ps`, then `rmdir` it",
			     group->path);
			break;
		}
		nanosleep(&poll, NULL);
	}
	close(group->lock);
	close(group->fd);
}

/* Is there no process in it or below it? False also if that is unknown. */
static bool is_empty(const char *group)
{
	char path[PATH_MAX + sizeof("/cgroup.events")];
	int populated = 1;
	FILE *events;

	snprintf(path, sizeof(path), "%s/cgroup.events", group);
	events = fopen(path, "re");
	if (events) {
		if (fscanf(events, "populated %d", &populated) != 1)
			populated = 1;
		fclose(events);
	}
	return !populated;
}

static void sweep(const char *parent, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", parent, name) >= PATH_MAX)
		return;
	fd = lock(path);
	if (fd < 0)
		return;
	if (is_empty(path))
		remove_tree(path);
	close(fd);
}

/* Of a run: with a tag behind it. */
static bool is_of_a_run(const char *name)
{
	if (strncmp(name, NAME, strlen(NAME)))
		return false;
	name += strlen(NAME);
	return strlen(name) == OWN_TAG_MAX - 1 &&
	       strspn(name, "0123456789abcdef") == OWN_TAG_MAX - 1;
}

void own_cgroup_sweep(void)
{
	const struct dirent *entry;
	char parent[PATH_MAX];
	DIR *dir;

	if (!cgroup_own(parent))
		return;
	dir = opendir(parent);
	while (dir && (entry = readdir(dir))) {
		if (is_of_a_run(entry->d_name))
			sweep(parent, entry->d_name);
	}
	if (dir)
		closedir(dir);
}
