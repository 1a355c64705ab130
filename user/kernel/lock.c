// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define POLL_MS 20

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

int lock_by(int (*try)(const char *path), const char *path)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };
	int error = try(path);

	for (int waited_ms = 0; error == EWOULDBLOCK && waited_ms < LOCK_WAIT_S * 1000;
	     waited_ms += POLL_MS) {
		nanosleep(&poll, NULL);
		error = try(path);
	}
	return error;
}
