// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

#define SUFFIX ".new"

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

static bool redirect(const struct output_file *output)
{
	int fd = openat(output->directory, output->temporary,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	bool redirected = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;

	if (fd >= 0)
		close(fd);
	return redirected;
}

bool output_begin(struct output_file *output, const char *path)
{
	if (!find_place(output, path) || !redirect(output))
		return fail(errno, "--output %s: cannot be made: %s", path, strerror(errno));
	return true;
}

bool output_end(const struct output_file *output, bool whole)
{
	bool placed = whole && !renameat(output->directory, output->temporary, output->directory,
					 output->name);
	int error = errno;

	if (!placed)
		unlinkat(output->directory, output->temporary, 0);
	close(output->directory);
	if (whole && !placed)
		return fail(error, "--output %s: cannot be replaced: %s", output->name,
			    strerror(error));
	return placed;
}
