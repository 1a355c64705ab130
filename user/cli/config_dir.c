// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

#define SUFFIX ".conf"

bool config_is_dir(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISDIR(file.st_mode);
}

/* What dualpi2-load makes itself (attach/device.h). */
static bool is_helper(const char *ifname)
{
	return !fnmatch("in-*", ifname, 0) || !fnmatch("gs[ox]-*", ifname, 0);
}

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[");
}

bool config_is_file(const char *file)
{
	const char *suffix = strrchr(file, '.');

	return suffix && !strcmp(suffix, SUFFIX);
}

/* Is a file called as an interface, not by a pattern? */
static bool is_exact(const char *file, const char *ifname)
{
	const size_t length = strlen(ifname);

	return !strncmp(file, ifname, length) && !strcmp(file + length, SUFFIX);
}

static bool matches(const char *file, const char *ifname)
{
	char name[NAME_MAX + 1];

	if (!config_is_file(file))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(strrchr(file, '.') - file), file);
	return is_pattern(name) && !is_helper(ifname) && !fnmatch(name, ifname, 0);
}

bool config_counts(const char *file, const char *other, const char *ifname)
{
	const size_t length = strlen(file), other_length = strlen(other);

	if (is_exact(file, ifname))
		return true;
	if (!matches(file, ifname) || is_exact(other, ifname))
		return false;
	return length > other_length || (length == other_length && strcmp(file, other) < 0);
}

/* The file of a directory that counts most of those for an interface; "": there is none. False: the
 * directory cannot be read, which is reported.
 */
static bool find_file(const char *dir, const char *ifname, char found[NAME_MAX + 1])
{
	DIR *files = opendir(dir);
	struct dirent *file;

	found[0] = '\0';
	if (!files)
		return fail(errno, "%s: cannot be read: %s", dir, strerror(errno));
	while ((file = readdir(files)))
		if (config_counts(file->d_name, found, ifname))
			strcpy(found, file->d_name);
	closedir(files);
	return true;
}

static bool has_file(const char *dir, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && !access(path, F_OK);
}

bool config_find(const char *dir, const char *ifname, bool or_default, char path[PATH_MAX])
{
	char file[NAME_MAX + 1];

	if (!find_file(dir, ifname, file))
		return false;
	if (file[0] && has_file(dir, file, path))
		return true;
	return (or_default && has_file(dir, CONFIG_DEFAULT, path)) ||
	       fail(0, "%s: no file there is for %s: see dualpi2.conf(5)", dir, ifname);
}
