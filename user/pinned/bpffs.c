// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/bpffs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"

static int find_here(void)
{
	struct statfs fs;

	if (statfs(BPFFS, &fs))
		return errno == ENOENT ? 0 : -errno;
	return fs.f_type == BPF_FS_MAGIC;
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

int bpffs_find(void)
{
	int error, here = find_here();

	if (here)
		return here;
	error = enter_first_mount_namespace();
	return error ? error : find_here();
}

int bpffs_look(void)
{
	int found = bpffs_find();

	if (found < 0)
		fail(-found, "BPF file system at " BPFFS ": " BPFFS_HIDDEN_TEXT ": run it %s",
		     privilege_as_root(PRIVILEGE_MOUNT));
	return found;
}

/* "none (bpf)"; behind what is there already. */
static void add_mount(const struct mntent *mount, const char *before, char *text)
{
	const size_t used = strlen(text);

	snprintf(text + used, BPFFS_COVER_MAX / 2 - used, "%s%.63s (%s)", before, mount->mnt_fsname,
		 mount->mnt_type);
}

const char *bpffs_cover(char *text)
{
	char names[BPFFS_COVER_MAX / 2] = "";
	const struct mntent *mount;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	int count = 0;

	while (mounts && (mount = getmntent(mounts))) {
		if (!strcmp(mount->mnt_dir, BPFFS))
			add_mount(mount, count++ ? ", below " : "", names);
	}
	if (mounts)
		endmntent(mounts);
	if (count < 2)
		return NULL;
	snprintf(text, BPFFS_COVER_MAX,
		 "%d file systems are mounted at " BPFFS ", %s, and only the last can be seen: "
		 "`umount " BPFFS "` takes it away",
		 count, names);
	return text;
}

bool bpffs_mount(void)
{
	int found = bpffs_look();

	if (found)
		return found > 0;
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return fail(errno,
			    "there is no BPF file system at " BPFFS
			    ", and mounting one fails: %s: run `mount -t bpf bpf " BPFFS "` %s",
			    strerror(errno), privilege_as_root(PRIVILEGE_MOUNT));
	verbose("mounted a BPF file system at " BPFFS);
	return true;
}
