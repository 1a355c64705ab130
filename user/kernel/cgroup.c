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
#include "kernel/object_shape.h"

#define UNIFIED CGROUP_MOUNT "/unified" /* where version 1 has the other place */
#define OF_FIRST "/proc/1/root"		/* as the first process sees it */
#define TREE_DEPTH 16
#define WALKS 3 /* if control groups go meanwhile */

/* On a control group, of a kind: BPF_CGROUP_MAX_PROGS, kernel/bpf/cgroup.c. */
#define PROGRAMS_MAX 64

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* `ip netns exec` gives its command a /sys without control groups; the first process sees the same
 * ones.
 */
static const char *const mounts[] = { CGROUP_MOUNT, UNIFIED, OF_FIRST CGROUP_MOUNT,
				      OF_FIRST UNIFIED };

#define N_MOUNTS (sizeof(mounts) / sizeof(mounts[0]))

const char *cgroup_mount_point(void)
{
	for (size_t i = 0; i < N_MOUNTS; i++)
		if (is_cgroup2(mounts[i]))
			return mounts[i];
	fail(0, "no control groups (version 2) at " CGROUP_MOUNT
		": `mount -t cgroup2 none " CGROUP_MOUNT "`");
	return NULL;
}

/* The rest of a path behind a directory; NULL: the path is not below it. */
static const char *below(const char *directory, const char *path)
{
	const size_t length = strlen(directory);

	return !strncmp(path, directory, length) && (!path[length] || path[length] == '/')
		       ? path + length
		       : NULL;
}

/* The path for people, without the way through the first process. */
static const char *known_as(const char *path)
{
	return below(OF_FIRST, path) ?: path;
}

int cgroup_open(const char *path)
{
	const char *top = cgroup_mount_point();
	char whole[PATH_MAX];
	int fd;

	if (!top)
		return -1;
	snprintf(whole, sizeof(whole), "%s/%s", top, below(known_as(top), path) ?: path);
	fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(errno, "%s: no such control group (see `systemd-cgls`): %s", known_as(whole),
		     strerror(errno));
	else if (!is_cgroup2(whole)) {
		close(fd);
		fd = -1;
		fail(0, "%s: is not a control group (version 2)", known_as(whole));
	}
	return fd;
}

int cgroup_open_root(void)
{
	return cgroup_open("");
}

/* ---- our own --------------------------------------------------------------------------- */

/* Where we are, below the root of our namespace of control groups. */
static bool own_path(char path[PATH_MAX])
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		is_found = !strncmp(line, "0::/", 4);
	}
	if (file)
		fclose(file);
	snprintf(path, PATH_MAX, "%s", is_found ? line + 3 : "");
	return is_found || fail(0, "no control group (version 2) of our own: is " CGROUP_MOUNT
				   " mounted as one?");
}

/* Is this process in the control group at that path? */
static bool has_us(const char *path)
{
	char procs[PATH_MAX];
	FILE *file;
	int pid = 0;

	if (snprintf(procs, sizeof(procs), "%s/cgroup.procs", path) >= PATH_MAX)
		return false;
	file = fopen(procs, "re");
	while (file && pid != getpid() && fscanf(file, "%d", &pid) == 1)
		;
	if (file)
		fclose(file);
	return pid == getpid();
}

/* A mount may begin elsewhere than our namespace: then our path leads to another one, or nowhere.
 */
bool cgroup_own(char path[PATH_MAX])
{
	char own[PATH_MAX];

	if (!own_path(own))
		return false;
	for (size_t i = 0; i < N_MOUNTS; i++) {
		if (snprintf(path, PATH_MAX, "%s%s", mounts[i], own[1] ? own : "") < PATH_MAX &&
		    is_cgroup2(path) && has_us(path))
			return true;
	}
	return fail(0,
		    "%s: our control group is not below " CGROUP_MOUNT
		    ": mount those of this namespace (`mount -t cgroup2 none " CGROUP_MOUNT "`)",
		    own);
}

/* ---- by name, by number ---------------------------------------------------------------- */

/* For nftw(), which has no argument of ours. */
static struct {
	const char *unit; /* NULL: it has this number */
	__u64 number;
	char *path;  /* where it was found */
	char *other; /* where one more was; NULL: the first is enough */
} wanted;

/* Returns whether to go on. */
static int keep(const char *path)
{
	const bool is_first = !*wanted.path;

	snprintf(is_first ? wanted.path : wanted.other, PATH_MAX, "%s", known_as(path));
	return is_first && wanted.other ? FTW_CONTINUE : FTW_STOP;
}

static int look_at_number(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)place;
	return type == FTW_D && status->st_ino == wanted.number ? keep(path) : FTW_CONTINUE;
}

static bool has_type(const char *unit, const char *type)
{
	const char *own = strrchr(unit, '.');

	return own && !strcmp(own, type);
}

/* Of a type that has processes (systemd.unit(5)). */
static bool has_known_type(const char *unit)
{
	return has_type(unit, ".service") || has_type(unit, ".scope") || has_type(unit, ".slice");
}

/* The service manager puts a _ before a name that could be one of the kernel's files
 * (cg_escape(), src/basic/cgroup-util.c).
 */
static bool is_unit(const char *name)
{
	return !strcmp(name, wanted.unit) || (*name == '_' && !strcmp(name + 1, wanted.unit));
}

/* Only slices are above the units of the system (systemd.slice(5)). Those of a user or a container
 * are below a unit that has been handed to them, and may be called anything.
 */
static int look_at_unit(const char *path, const struct stat *status, int type, struct FTW *place)
{
	const char *name = path + place->base;

	(void)status;
	if (type != FTW_D || !place->level)
		return FTW_CONTINUE;
	if (is_unit(name) && keep(path) == FTW_STOP)
		return FTW_STOP;
	return has_type(name, ".slice") ? FTW_CONTINUE : FTW_SKIP_SUBTREE;
}

/* 1, 0, or -errno. */
static int find_below(const char *top, int (*look)(const char *path, const struct stat *status,
						   int type, struct FTW *place))
{
	int walked = -1;

	errno = ENOENT;
	for (int i = 0; walked < 0 && errno == ENOENT && i < WALKS; i++) {
		*wanted.path = '\0';
		walked = nftw(top, look, TREE_DEPTH, FTW_PHYS | FTW_ACTIONRETVAL);
	}
	return walked < 0 ? -errno : *wanted.path != '\0';
}

int cgroup_open_unit(const char *unit, char path[PATH_MAX])
{
	const char *top = cgroup_mount_point();
	char name[NAME_MAX], other[PATH_MAX] = "";
	int found;

	if (!top)
		return -1;
	snprintf(name, sizeof(name), "%s%s", unit, has_known_type(unit) ? "" : ".service");
	wanted = (typeof(wanted)){ .unit = name, .path = path, .other = other };
	found = expect_known(find_below(top, look_at_unit), "the control groups of the units");
	if (found < 0)
		return -1;
	if (!found)
		fail(0,
		     "%s: no running unit of the system (see `systemctl status %s`); give one of a "
		     "user or a container by --cgroup",
		     name, name);
	else if (*other)
		fail(0, "%s: there are %.400s and %.400s: choose one by --cgroup", name, path,
		     other);
	else
		return cgroup_open(path);
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
	return top ? find_below(top, look_at_number) : -ENOENT;
}

/* __cgroup_bpf_attach(), kernel/bpf/cgroup.c */
static void refuse_attach(int error)
{
	if (error == E2BIG)
		fail(error,
		     "the control group is full: it has the %d programs of this kind that the "
		     "kernel allows: see `bpftool cgroup show PATH`, and detach some",
		     PROGRAMS_MAX);
	else if (error == EPERM)
		fail(error,
		     "the kernel does not let us attach a program to the control group: "
		     "another one there, or above, forbids more (see `bpftool cgroup tree`), "
		     "or we are not root of the host");
	else if (error == EINVAL)
		fail(error, "the kernel refuses the program on the control group: does it have "
			    "CONFIG_CGROUP_BPF=y?");
	else
		fail(error, "the kernel refuses the program on the control group: %s",
		     strerror(error));
}

int cgroup_attach(int program, int cgroup)
{
	int link = bpf_link_create(program, cgroup, BPF_CGROUP_SOCK_OPS, NULL);

	if (link < 0)
		refuse_attach(errno);
	return link;
}

int cgroup_is_gone(int link)
{
	static const struct object_shape shape = {
		.object = OBJECT_LINK,
		.type = BPF_LINK_TYPE_CGROUP,
	};
	struct bpf_link_info info;
	int found = object_has_shape(link, &shape);

	if (found <= 0)
		return found;
	/* Its number is 0 then: bpf_cgroup_link_fill_link_info(), kernel/bpf/cgroup.c. */
	return object_read(link, &info) ?: !info.cgroup.cgroup_id;
}
