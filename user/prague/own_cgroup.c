// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/own_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/cgroup.h"

#define NAME "tcp-prague-"
#define EMPTY_WAIT_MS 5000
#define POLL_MS 10

/* Where we are, below the root. */
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
	snprintf(path, PATH_MAX, "%s", is_found ? line + 4 : "");
	return is_found || fail(0, "no control group (version 2) of our own: is " CGROUP_MOUNT
				   " mounted as one?");
}

int own_cgroup_make(char path[PATH_MAX])
{
	const char *top = cgroup_mount_point();
	char own[PATH_MAX];

	if (!top || !own_path(own))
		return -1;
	if (snprintf(path, PATH_MAX, "%s/%s/" NAME "%d", top, own, getpid()) >= PATH_MAX) {
		fail(ENAMETOOLONG, "the control group's path is too long");
		return -1;
	}
	if (mkdir(path, 0755) && errno != EEXIST) {
		fail(errno, "%s: cannot be made: run it as root", path);
		return -1;
	}
	return cgroup_open(path);
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

bool own_cgroup_enter(int fd)
{
	return write_to(fd, "cgroup.procs", "0") ||
	       fail(errno, "the control group cannot be entered: %s", strerror(errno));
}

void own_cgroup_remove(int fd, const char *path)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };

	write_to(fd, "cgroup.kill", "1");
	for (int waited_ms = 0; rmdir(path) && errno == EBUSY; waited_ms += POLL_MS) {
		if (waited_ms >= EMPTY_WAIT_MS) {
			fail(EBUSY, "%s: something in it does not end: see `ps`, then `rmdir` it",
			     path);
			break;
		}
		nanosleep(&poll, NULL);
	}
}

/* Does the run live that made it? Its number may be another's by now: then it stays for longer. */
static bool is_at_work(const char *name)
{
	return !kill(atoi(name + strlen(NAME)), 0) || errno == EPERM;
}

void own_cgroup_sweep(void)
{
	char own[PATH_MAX], path[2 * PATH_MAX], found[3 * PATH_MAX];
	const struct dirent *entry;
	const char *top = cgroup_mount_point();
	DIR *dir;

	if (!top || !own_path(own))
		return;
	snprintf(path, sizeof(path), "%s/%s", top, own);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, NAME, strlen(NAME)) || is_at_work(entry->d_name))
			continue;
		snprintf(found, sizeof(found), "%s/%s", path, entry->d_name);
		rmdir(found); /* if it is empty */
	}
	if (dir)
		closedir(dir);
}
