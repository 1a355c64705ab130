// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/config_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
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

/* What dualpi2-load makes itself (interface/device.h). */
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

void config_add_name(const char *name, void *names)
{
	struct config_names *list = names;
	void *longer = realloc(list->of, (list->count + 1) * sizeof(*list->of));

	if (!longer) {
		list->is_cut = !fail(ENOMEM, "no memory for the names of an interface");
		return;
	}
	list->of = longer;
	snprintf(list->of[list->count++], CONFIG_NAME_SIZE, "%s", name);
}

/* The place of the name that a file is called by, not by a pattern; their count: of none. */
static size_t exact_place(const char *file, const struct config_names *names)
{
	size_t place = 0;

	for (; place < names->count; place++) {
		const size_t length = strlen(names->of[place]);

		if (!strncmp(file, names->of[place], length) && !strcmp(file + length, SUFFIX))
			break;
	}
	return place;
}

static bool matches(const char *file, const struct config_names *names)
{
	char name[NAME_MAX + 1];
	bool found = false;

	if (!config_is_file(file))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(strrchr(file, '.') - file), file);
	for (size_t i = 0; i < names->count; i++)
		found |= !fnmatch(name, names->of[i], 0);
	return found && is_pattern(name) && !is_helper(names->of[0]);
}

bool config_counts(const char *file, const char *other, const struct config_names *names)
{
	const size_t length = strlen(file), other_length = strlen(other);
	const size_t place = exact_place(file, names), other_place = exact_place(other, names);

	if (place < names->count || other_place < names->count)
		return place < other_place;
	if (!matches(file, names))
		return false;
	return length > other_length || (length == other_length && strcmp(file, other) < 0);
}

/* The file of a directory that counts most of those for an interface; "": there is none. False: the
 * directory cannot be read, which is reported.
 */
static bool find_file(const char *dir, const struct config_names *names, char found[NAME_MAX + 1])
{
	DIR *files = opendir(dir);
	struct dirent *file;

	found[0] = '\0';
	if (!files)
		return fail(errno, "%s: cannot be read: %s", dir, strerror(errno));
	while ((file = readdir(files)))
		if (config_counts(file->d_name, found, names))
			strcpy(found, file->d_name);
	closedir(files);
	return true;
}

static bool has_file(const char *dir, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && !access(path, F_OK);
}

bool config_find(const char *dir, const struct config_names *names, bool or_default,
		 char path[PATH_MAX])
{
	char file[NAME_MAX + 1];

	if (!find_file(dir, names, file))
		return false;
	if (file[0] && has_file(dir, file, path))
		return true;
	return (or_default && has_file(dir, CONFIG_DEFAULT, path)) ||
	       fail(0, "%s: no file there is for %s: see dualpi2.conf(5)", dir, names->of[0]);
}
