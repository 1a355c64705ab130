// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

#define SUFFIX ".new"
#define TRIES 3

/* The directory of `path`, opened, and the name in it. */
static bool find_place(struct output_file *output, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char directory[PATH_MAX];

	if (!*name || strlen(name) + sizeof(SUFFIX) > sizeof(output->name) ||
	    strlen(path) >= sizeof(directory)) {
		errno = *name ? ENAMETOOLONG : EISDIR;
		return false;
	}
	strcpy(output->name, name);
	snprintf(output->temporary, sizeof(output->temporary), "%s" SUFFIX, name);
	snprintf(directory, sizeof(directory), "%.*s.", (int)(name - path), path);
	output->directory = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	return output->directory >= 0;
}

/* A new file, whatever has its name: what a killed run left, or a file, a link or a FIFO that
 * somebody put there, who may do so more than once.
 */
static int create(const struct output_file *output)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = -1;

	for (int i = 0; fd < 0 && i < TRIES && (!i || errno == EEXIST); i++) {
		unlinkat(output->directory, output->temporary, 0);
		fd = openat(output->directory, output->temporary, flags, 0666);
	}
	return fd;
}

static bool redirect(struct output_file *output)
{
	output->file = create(output);
	return output->file >= 0 && dup2(output->file, STDOUT_FILENO) >= 0;
}

/* Is it still there? Another run with the same file takes it away. */
static bool is_ours(const struct output_file *output)
{
	struct stat ours, there;

	if (fstat(output->file, &ours) ||
	    fstatat(output->directory, output->temporary, &there, AT_SYMLINK_NOFOLLOW))
		return false;
	errno = EBUSY;
	return ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

bool output_begin(struct output_file *output, const char *path)
{
	if (!find_place(output, path) || !redirect(output))
		return fail(errno, "--output %s: cannot be made: %s", path, strerror(errno));
	return true;
}

bool output_end(const struct output_file *output, bool whole)
{
	const bool own = is_ours(output);
	bool placed =
		whole && own &&
		!renameat(output->directory, output->temporary, output->directory, output->name);
	int error = errno;

	if (!placed && own)
		unlinkat(output->directory, output->temporary, 0);
	close(output->file);
	close(output->directory);
	if (whole && !placed)
		return fail(error, "--output %s: cannot be replaced: %s", output->name,
			    strerror(error));
	return placed;
}

FILE *record_open(const char *path)
{
	/* O_NONBLOCK: a FIFO would let us wait for a reader. */
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	struct stat file;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &file) &&
	    (S_ISCHR(file.st_mode) ||
	     (S_ISREG(file.st_mode) && file.st_nlink == 1 && !ftruncate(fd, 0))))
		return fdopen(fd, "w");
	close(fd);
	errno = EINVAL;
	return NULL;
}
