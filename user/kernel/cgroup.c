// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/cgroup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/message.h"

#define UNIFIED CGROUP_MOUNT "/unified" /* where version 1 has the other place */
#define TREE_DEPTH 16

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

const char *cgroup_mount_point(void)
{
	if (is_cgroup2(CGROUP_MOUNT))
		return CGROUP_MOUNT;
	if (is_cgroup2(UNIFIED))
		return UNIFIED;
	fail(0, "no control groups (version 2) at " CGROUP_MOUNT
		": `mount -t cgroup2 none " CGROUP_MOUNT "`");
	return NULL;
}

int cgroup_open(const char *path)
{
	const char *top = cgroup_mount_point();
	char whole[PATH_MAX];
	int fd;

	if (!top)
		return -1;
	if (!strncmp(path, top, strlen(top)))
		snprintf(whole, sizeof(whole), "%s", path);
	else
		snprintf(whole, sizeof(whole), "%s/%s", top, path);
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
	char *path; /* where it was found */
} wanted;

static int look(const char *path, const struct stat *status, int type, struct FTW *place)
{
	const bool is_it = wanted.name ? !strcmp(path + place->base, wanted.name)
				       : status->st_ino == wanted.number;

	if (type != FTW_D || !is_it)
		return 0;
	snprintf(wanted.path, PATH_MAX, "%s", path);
	return 1;
}

static bool find_below(const char *top)
{
	return nftw(top, look, TREE_DEPTH, FTW_PHYS) > 0;
}

/* Those that processes belong to (systemd.unit(5)). */
static bool has_type(const char *unit)
{
	const char *type = strrchr(unit, '.');

	return type &&
	       (!strcmp(type, ".service") || !strcmp(type, ".scope") || !strcmp(type, ".slice"));
}

int cgroup_open_unit(const char *unit, char path[PATH_MAX])
{
	const char *top = cgroup_mount_point();
	char name[NAME_MAX];

	if (!top)
		return -1;
	snprintf(name, sizeof(name), "%s%s", unit, has_type(unit) ? "" : ".service");
	wanted = (typeof(wanted)){ .name = name, .path = path };
	if (find_below(top))
		return cgroup_open(path);
	fail(0, "%s: no such unit runs (see `systemctl status %s`)", name, name);
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

	wanted = (typeof(wanted)){ .number = number, .path = path };
	return top && find_below(top);
}

int cgroup_attach(int program, int cgroup)
{
	int link = bpf_link_create(program, cgroup, BPF_CGROUP_SOCK_OPS, NULL);

	if (link < 0)
		fail(errno,
		     "the kernel refuses the program on the control group (%s): does it have "
		     "CONFIG_CGROUP_BPF=y, and no other program there that forbids more?",
		     strerror(errno));
	return link;
}

__u64 cgroup_of(int link)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);

	return bpf_link_get_info_by_fd(link, &info, &size) ? 0 : info.cgroup.cgroup_id;
}
