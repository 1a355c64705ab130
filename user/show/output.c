// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

#define SUFFIX ".new"

/* The directory of `path`, opened, and the name in it. */
static bool find_place(struct replacement *replacement, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char directory[PATH_MAX];

	if (!*name || strlen(name) + sizeof(SUFFIX) > sizeof(replacement->name) ||
	    strlen(path) >= sizeof(directory)) {
		errno = *name ? ENAMETOOLONG : EISDIR;
		return false;
	}
	strcpy(replacement->name, name);
	snprintf(replacement->temporary, sizeof(replacement->temporary), "%s" SUFFIX, name);
	snprintf(directory, sizeof(directory), "%.*s.", (int)(name - path), path);
	replacement->directory = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	return replacement->directory >= 0;
}

static bool redirect(const struct replacement *replacement)
{
	int fd = openat(replacement->directory, replacement->temporary,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	bool redirected = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;

	if (fd >= 0)
		close(fd);
	return redirected;
}

bool replacement_begin(struct replacement *replacement, const char *path)
{
	if (!find_place(replacement, path) || !redirect(replacement))
		return fail(errno, "--output %s: cannot be made: %s", path, strerror(errno));
	return true;
}

bool replacement_end(const struct replacement *replacement, bool whole)
{
	bool placed = whole && !renameat(replacement->directory, replacement->temporary,
					 replacement->directory, replacement->name);
	int error = errno;

	if (!placed)
		unlinkat(replacement->directory, replacement->temporary, 0);
	close(replacement->directory);
	if (whole && !placed)
		return fail(error, "--output %s: cannot be replaced: %s", replacement->name,
			    strerror(error));
	return placed;
}
