// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/bpffs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/lock.h"

#define MOUNTS "/proc/self/mountinfo"

/* ---- what is mounted there ------------------------------------------------------------- */

/* proc_pid_mountinfo(5) */
struct mount {
	dev_t device; /* of the file system */
	char point[64], type[32], source[64];
};

/* Mounts at BPFFS or above it. An empty point: there is none. */
struct view {
	struct mount seen;   /* what a path to BPFFS leads into */
	struct mount hidden; /* a BPF file system at BPFFS that no path leads to */
};

static bool read_mount(const char *line, struct mount *mount)
{
	const char *rest = strstr(line, " - ");
	unsigned int device_major, device_minor;

	if (!rest ||
	    sscanf(line, "%*u %*u %u:%u %*s %63s", &device_major, &device_minor, mount->point) != 3)
		return false;
	mount->device = makedev(device_major, device_minor);
	return sscanf(rest, " - %31s %63s", mount->type, mount->source) == 2;
}

/* Does the path to BPFFS lead through it? */
static bool is_on_the_way(const struct mount *mount)
{
	const size_t length = strlen(mount->point);

	return !strcmp(mount->point, "/") ||
	       (!strncmp(mount->point, BPFFS, length) && (!BPFFS[length] || BPFFS[length] == '/'));
}

static bool is_bpffs(const struct mount *mount)
{
	return !strcmp(mount->point, BPFFS) && !strcmp(mount->type, "bpf");
}

/* The same file system may be mounted there twice, which hides nothing. 0, or -errno. */
static int look_at_mounts(struct view *view)
{
	FILE *mounts = fopen(MOUNTS, "re");
	struct stat top = {};
	struct mount mount;
	char *line = NULL;
	size_t size = 0;

	*view = (struct view){};
	if (!mounts)
		return -errno;
	if (stat(BPFFS, &top) && errno != ENOENT) {
		fclose(mounts);
		return -errno;
	}
	while (getline(&line, &size, mounts) > 0) {
		if (!read_mount(line, &mount) || !is_on_the_way(&mount))
			continue;
		if (mount.device == top.st_dev || !top.st_dev)
			view->seen = mount;
		if (mount.device != top.st_dev && is_bpffs(&mount))
			view->hidden = mount;
	}
	free(line);
	fclose(mounts);
	return 0;
}

/* 0, or -errno: unknown, and `why` says why. */
static int look(struct view *view, char *why)
{
	int error = look_at_mounts(view);

	if (error)
		snprintf(why, BPFFS_WHY_MAX, MOUNTS ": cannot be read: %s", strerror(-error));
	return error;
}

int bpffs_is_hidden(char *why)
{
	struct view view;
	int error = look(&view, why);

	if (error || !*view.hidden.point)
		return error;
	snprintf(why, BPFFS_WHY_MAX,
		 "%s (bpf) is hidden below %s (%s), so it is unknown what is pinned: "
		 "`umount %s` uncovers it, if nobody needs what covers it",
		 view.hidden.source, view.seen.source, view.seen.type, view.seen.point);
	return 1;
}

const char *bpffs_remedy(char *why, const char *otherwise)
{
	return bpffs_is_hidden(why) ? why : otherwise;
}

int bpffs_has_room(char *why)
{
	struct view view;
	int error;

	if (access(BPFFS, F_OK)) {
		error = errno == ENOENT ? 0 : -errno;
		snprintf(why, BPFFS_WHY_MAX,
			 "no " BPFFS ": mount sysfs, or take a kernel with CONFIG_BPF_SYSCALL=y");
		return error;
	}
	error = look(&view, why);
	if (error || strcmp(view.seen.point, BPFFS) != 0 || !strcmp(view.seen.type, "sysfs"))
		return error ?: 1; /* containers may have the directory of sysfs as a mount */
	snprintf(why, BPFFS_WHY_MAX,
		 "%s (%s) is mounted at " BPFFS ", in place of the BPF file system: `umount " BPFFS
		 "`",
		 view.seen.source, view.seen.type);
	return 0;
}

/* ---- where it is ------------------------------------------------------------------------ */

/* Is the file system there of this type: 1, 0, or -errno. */
static int is_mounted(const char *path, unsigned long type)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return errno == ENOENT ? 0 : -errno;
	return (unsigned long)fs.f_type == type;
}

static int find_here(void)
{
	return is_mounted(BPFFS, BPF_FS_MAGIC);
}

/* Go to the mount namespace of the first process, if that is another one. 0, or -errno: we may
 * not, or cannot tell whether it is another one.
 */
static int enter_first_mount_namespace(void)
{
	struct stat here, first;
	int fd, error = 0;

	if (stat("/proc/self/ns/mnt", &here) || stat("/proc/1/ns/mnt", &first))
		return -errno;
	if (here.st_ino == first.st_ino)
		return 0;
	fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (setns(fd, CLONE_NEWNS))
		error = -errno;
	close(fd);
	return error;
}

int bpffs_find(char *why)
{
	int error, found;

	/* It tells what is mounted, and what each pin is. */
	if (is_mounted("/proc", PROC_SUPER_MAGIC) <= 0) {
		snprintf(why, BPFFS_WHY_MAX,
			 "it is unknown what is pinned without /proc: `mount -t proc proc /proc`");
		return -ENOENT;
	}
	found = find_here();
	if (found > 0)
		return found;
	error = found ?: enter_first_mount_namespace();
	found = error ?: find_here();
	if (found <= 0 && bpffs_is_hidden(why) > 0)
		return -EEXIST;
	if (found < 0)
		snprintf(why, BPFFS_WHY_MAX,
			 BPFFS " of the host cannot be seen from here (`ip netns exec` hides it, "
			       "`nsenter --net=` does not): run it %s",
			 privilege_as_root(PRIVILEGE_MOUNT));
	return found;
}

/* One try: 0, or an errno; EWOULDBLOCK: another tool is at it, or has just done it. */
static int try_mount(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = fd < 0 ? errno : lock_at_once(fd, path);

	if (!error && find_here() <= 0 &&
	    mount("bpf", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

bool bpffs_mount(void)
{
	char why[BPFFS_WHY_MAX];
	int error, found = bpffs_find(why);

	if (found)
		return found > 0 || fail(-found, "%s", why);
	found = bpffs_has_room(why);
	if (found <= 0)
		return fail(-found, "%s", why);
	error = lock_by(try_mount, BPFFS);
	if (error)
		return fail(error,
			    "there is no BPF file system at " BPFFS
			    ", and mounting one fails: %s: run `mount -t bpf bpf " BPFFS "` %s",
			    strerror(error), privilege_as_root(PRIVILEGE_MOUNT));
	verbose("mounted a BPF file system at " BPFFS);
	return true;
}
