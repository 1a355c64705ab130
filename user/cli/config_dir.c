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

static bool has_file(const char *dir, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s" SUFFIX, dir, name) < PATH_MAX &&
	       !access(path, F_OK);
}

/* Of two patterns, does the first count more? */
static bool counts_more(const char *pattern, const char *other)
{
	const size_t length = strlen(pattern), other_length = strlen(other);

	return length > other_length || (length == other_length && strcmp(pattern, other) < 0);
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

bool config_names(const char *file, const char *ifname)
{
	const char *suffix = strrchr(file, '.');
	char name[NAME_MAX + 1];

	if (!suffix || strcmp(suffix, SUFFIX))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(suffix - file), file);
	return !strcmp(name, ifname) ||
	       (is_pattern(name) && !is_helper(ifname) && !fnmatch(name, ifname, 0));
}

/* The pattern among the files of a directory that counts most of those that a name matches; "":
 * there is none. False: the directory cannot be read, which is reported.
 */
static bool find_pattern(const char *dir, const char *ifname, char found[NAME_MAX + 1])
{
	DIR *files = opendir(dir);
	struct dirent *file;

	found[0] = '\0';
	if (!files)
		return fail(errno, "%s: cannot be read: %s", dir, strerror(errno));
	while ((file = readdir(files))) {
		if (!is_pattern(file->d_name) || !config_names(file->d_name, ifname))
			continue;
		*strrchr(file->d_name, '.') = '\0';
		if (counts_more(file->d_name, found))
			strcpy(found, file->d_name);
	}
	closedir(files);
	return true;
}

bool config_find(const char *dir, const char *ifname, bool or_default, char path[PATH_MAX])
{
	char pattern[NAME_MAX + 1];

	if (has_file(dir, ifname, path))
		return true;
	if (!find_pattern(dir, ifname, pattern))
		return false;
	if (pattern[0] && has_file(dir, pattern, path))
		return true;
	return (or_default && has_file(dir, CONFIG_DEFAULT, path)) ||
	       fail(0, "%s: no file there is for %s: see dualpi2.conf(5)", dir, ifname);
}
