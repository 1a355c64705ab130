// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Does the path still lead to it? */
static bool is_current(int fd, const char *path)
{
	struct stat locked, current;

	return !fstat(fd, &locked) && !stat(path, &current) && locked.st_ino == current.st_ino &&
	       locked.st_dev == current.st_dev;
}

int lock_at_once(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno;
	return is_current(fd, path) ? 0 : EWOULDBLOCK;
}
