// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/cgroup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/message.h"

/* Where version 2 is mounted: alone, or beside version 1. */
#define ALONE CGROUP_MOUNT
#define BESIDE CGROUP_MOUNT "/unified"
/* Of the first process: `ip netns exec` gives its command a /sys without it. */
#define FIRST "/proc/1/root"
#define OPEN_MAX_DIRECTORIES 16 /* that nftw() keeps open: it finds those below as well */
#define PROGRAMS_MAX 64		/* BPF_CGROUP_MAX_PROGS, kernel/bpf/cgroup.c */

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Do paths of control groups mean to us what they mean to the first process? */
static bool is_first_namespace(void)
{
	struct stat here, first;

	return !stat("/proc/self/ns/cgroup", &here) && !stat("/proc/1/ns/cgroup", &first) &&
	       here.st_ino == first.st_ino && here.st_dev == first.st_dev;
}

const char *cgroup_mount_point(void)
{
	static const char *const places[] = { ALONE, BESIDE, FIRST ALONE, FIRST BESIDE };
	const size_t count = is_first_namespace() ? 4 : 2;

	for (size_t i = 0; i < count; i++) {
		if (is_cgroup2(places[i]))
			return places[i];
	}
	fail(0, "no control groups (version 2) at " CGROUP_MOUNT
		": `mount -t cgroup2 none " CGROUP_MOUNT "`");
	return NULL;
}

/* A path as people write it, or as it was found: what of it is below the mount point. */
static const char *below(const char *top, const char *path)
{
	const char *const places[] = { top, BESIDE, ALONE };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const size_t length = strlen(places[i]);

		if (!strncmp(path, places[i], length) && (!path[length] || path[length] == '/'))
			return path + length;
	}
	return path;
}

int cgroup_open(const char *path)
{
	const char *top = cgroup_mount_point();
	char whole[PATH_MAX];
	int fd;

	if (!top)
		return -1;
	snprintf(whole, sizeof(whole), "%s/%s", top, below(top, path));
	fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(errno, "%s: no such control group (see `systemd-cgls`): %s", whole,
		     strerror(errno));
	else if (!is_cgroup2(whole)) {
		close(fd);
		fd = -1;
		fail(0, "%s: is not a control group (version 2)", whole);
	}
	return fd;
}

int cgroup_open_root(void)
{
	return cgroup_open("");
}

/* For nftw(), which has no argument of ours. */
static struct {
	const char *name; /* NULL: it has this number */
	__u64 number;
	char *path;    /* where it was found */
	char *another; /* another place where it was found */
	bool is_hidden; /* there are some that we may not look into */
} wanted;

static void found(const char *path)
{
	snprintf(wanted.path[0] ? wanted.another : wanted.path, PATH_MAX, "%s", path);
}

static bool is_slice(const char *name)
{
	const char *type = strrchr(name, '.');

	return type && !strcmp(type, ".slice");
}

/* The units of the system manager lie in slices, and slices in slices (systemd.slice(5)). Those of
 * a user's manager or in a container have another directory above them.
 */
static int look_for_unit(const char *path, const struct stat *status, int type, struct FTW *place)
{
	const char *name = path + place->base;

	(void)status;
	wanted.is_hidden |= type == FTW_DNR;
	if (type != FTW_D && type != FTW_DNR)
		return FTW_CONTINUE;
	if (!strcmp(name, wanted.name)) {
		found(path);
		return wanted.another[0] ? FTW_STOP : FTW_SKIP_SUBTREE;
	}
	return place->level && !is_slice(name) ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

static int look_for_number(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)place;
	if (type != FTW_D || status->st_ino != wanted.number)
		return FTW_CONTINUE;
	found(path);
	return FTW_STOP;
}

static void walk(const char *top, __nftw_func_t look)
{
	nftw(top, look, OPEN_MAX_DIRECTORIES, FTW_PHYS | FTW_ACTIONRETVAL);
}

/* Those that processes belong to (systemd.unit(5)). */
static bool has_type(const char *unit)
{
	const char *type = strrchr(unit, '.');

	return type && (!strcmp(type, ".service") || !strcmp(type, ".scope") || is_slice(unit));
}

int cgroup_open_unit(const char *unit, char path[PATH_MAX])
{
	const char *top = cgroup_mount_point();
	char name[NAME_MAX], another[PATH_MAX] = "";

	if (!top)
		return -1;
	path[0] = '\0';
	snprintf(name, sizeof(name), "%s%s", unit, has_type(unit) ? "" : ".service");
	wanted = (typeof(wanted)){ .name = name, .path = path, .another = another };
	walk(top, look_for_unit);
	if (another[0])
		fail(0, "%s: two control groups have this name, %s and %s: choose with --cgroup",
		     name, path, another);
	else if (path[0])
		return cgroup_open(path);
	else if (wanted.is_hidden)
		fail(0, "%s: cannot look at all control groups below %s: run it as root", name, top);
	else
		fail(0,
		     "%s: the system manager runs no such unit (see `systemctl status %s`); of a "
		     "user or a container choose the control group with --cgroup",
		     name, name);
	return -1;
}

/* kernfs_ino(), include/linux/kernfs.h: the same where numbers of inodes have 64 bits. */
__u64 cgroup_number(int cgroup)
{
	struct stat status;

	return fstat(cgroup, &status) ? 0 : status.st_ino;
}

int cgroup_find(__u64 number, char path[PATH_MAX])
{
	const char *top = cgroup_mount_point();

	path[0] = '\0';
	wanted = (typeof(wanted)){ .number = number, .path = path };
	if (top)
		walk(top, look_for_number);
	return path[0] != '\0';
}

int cgroup_attach(int program, int cgroup)
{
	int link = bpf_link_create(program, cgroup, BPF_CGROUP_SOCK_OPS, NULL);

	if (link == -E2BIG)
		fail(E2BIG,
		     "the control group has %d programs of this kind, and the kernel takes no more: "
		     "`bpftool cgroup list` shows whose they are",
		     PROGRAMS_MAX);
	else if (link < 0)
		fail(-link,
		     "the kernel refuses the program on the control group (%s): does it have "
		     "CONFIG_CGROUP_BPF=y, and no other program there that forbids more?",
		     strerror(-link));
	return link;
}

__u64 cgroup_of(int link)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);

	return bpf_link_get_info_by_fd(link, &info, &size) ? 0 : info.cgroup.cgroup_id;
}
