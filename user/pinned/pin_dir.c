// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/pin_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/lock.h"
#include "kernel/object_shape.h"

#define NOT_SAFE_TEXT \
	"%s: users other than its owner and root could have put pins there: `rm -r %s`"

static const char *root = PIN_DIR, *tool = "dualpi2-load", *programs = "dualpi2_";

void pins_belong_to(const char *directory, const char *program, const char *prefix)
{
	root = directory;
	tool = program;
	programs = prefix;
}

int pin_dir_exists(const char *path)
{
	if (!faccessat(AT_FDCWD, path, F_OK, AT_EACCESS))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

const char *pin_dir_path(const char *top, const char *dir, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s%s%s%s%s", top, *dir ? "/" : "", dir, *name ? "/" : "", name);
	return path;
}

const char *pin_path(const char *dir, const char *name, char path[PATH_MAX])
{
	return pin_dir_path(root, dir, name, path);
}

/* ---- is it ours? ------------------------------------------------------------------------ */

static bool is_ours_or_roots(const struct stat *dir)
{
	return !dir->st_uid || dir->st_uid == geteuid();
}

static bool only_owner_writes(const struct stat *dir)
{
	return !(dir->st_mode & (S_IWGRP | S_IWOTH));
}

/* As pin_dir_trust(). Where everybody may write to the file system, as in one that was mounted
 * without a mode, anybody could have made it before us.
 */
static int check(const struct stat *dir)
{
	struct stat fs;

	if (stat(BPFFS, &fs))
		return -errno;
	return S_ISDIR(dir->st_mode) && only_owner_writes(dir) &&
			       (is_ours_or_roots(dir) || only_owner_writes(&fs))
		       ? 0
		       : -EUCLEAN;
}

int pin_dir_open(const char *path)
{
	int error, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat dir;

	if (fd < 0)
		return -errno;
	error = fstat(fd, &dir) ? -errno : check(&dir);
	if (!error)
		return fd;
	close(fd);
	return error;
}

int pin_dir_trust(const char *path)
{
	struct stat dir;

	return lstat(path, &dir) ? -errno : check(&dir);
}

bool pin_dir_refuse(const char *path)
{
	return fail(0, NOT_SAFE_TEXT, path, path);
}

/* ---- can it be seen? -------------------------------------------------------------------- */

/* If we see no directory of ours, it may be in a file system that is hidden. If we see one, or if
 * none of our programs is loaded, the file system that we see is meant. Later, with fewer rights,
 * we could not ask for programs.
 */
static int find_hidden(char *why)
{
	static bool is_settled;
	int hidden = is_settled || pin_dir_exists(root) ? 0 : bpffs_is_hidden(why);
	size_t used;

	is_settled |= hidden > 0 && !programs_are_loaded(programs);
	if (hidden <= 0 || is_settled)
		return MIN(hidden, 0);
	used = strlen(why);
	snprintf(why + used, PINS_WHY_MAX - used,
		 "; to use the visible BPF file system instead, `mkdir -m 700 %s`", root);
	return -EEXIST;
}

static int find(char *why)
{
	int found = bpffs_find(why);
	int hidden = found > 0 ? find_hidden(why) : 0;

	if (hidden)
		return hidden;
	if (found > 0 && pin_dir_trust(root) == -EUCLEAN) {
		snprintf(why, PINS_WHY_MAX, NOT_SAFE_TEXT, root, root);
		return -EUCLEAN;
	}
	return found;
}

static int last_found;

int pins_find(char *why)
{
	last_found = find(why);
	return last_found;
}

bool pins_were_seen(void)
{
	return last_found >= 0;
}

int pins_look(void)
{
	char why[PINS_WHY_MAX];
	int found = pins_find(why);

	if (found < 0)
		fail(-found, "%s", why);
	return found;
}

bool pins_are_hidden(void)
{
	return faccessat(AT_FDCWD, root, R_OK | W_OK | X_OK, AT_EACCESS) &&
	       (errno == EACCES || errno == EROFS);
}

/* Where the pins are, or their directory will be. */
static const char *place(void)
{
	return pin_dir_exists(root) ? root : BPFFS;
}

int pins_may_be_made(char *why)
{
	int found = pins_find(why);

	if (found <= 0)
		return found ?: bpffs_has_room(why);
	if (!faccessat(AT_FDCWD, place(), W_OK | X_OK, AT_EACCESS))
		return 1;
	if (errno == EROFS)
		snprintf(why, PINS_WHY_MAX, "it is read-only: `mount -o remount,rw " BPFFS "`");
	else
		snprintf(why, PINS_WHY_MAX,
			 "you may not write to %s: run it %s, or have root make it yours", root,
			 privilege_as_root(PRIVILEGE_FILES));
	return -errno;
}

void pins_keep_privilege(unsigned int privileges)
{
	struct stat dir;
	const bool is_own = !stat(place(), &dir) && dir.st_uid == geteuid();

	privilege_keep(is_own ? privileges : privileges | PRIVILEGE_FILES);
}

/* ---- the lock --------------------------------------------------------------------------- */

/* One try: 0, or an errno. EWOULDBLOCK: somebody has the lock; EUCLEAN: it is not safe. */
static int try_lock(const char *path)
{
	int fd, error;

	if (mkdir(path, 0700) && errno != EEXIST)
		return errno;
	fd = pin_dir_open(path);
	if (fd < 0)
		return fd == -ENOENT ? EWOULDBLOCK : -fd;
	error = lock_at_once(fd, path);
	if (error)
		close(fd);
	return error; /* the fd stays open, and so locked, until we exit */
}

bool pins_lock(void)
{
	int error;

	if (pins_look() < 0)
		return false;
	error = lock_by(try_lock, root);
	switch (error) {
	case 0:
		return true;
	case EUCLEAN:
		return pin_dir_refuse(root);
	case EACCES:
		return fail(error, "%s: you may not open or make it: run it %s", root,
			    privilege_as_root(PRIVILEGE_FILES));
	case EWOULDBLOCK:
		return fail(error,
			    "%s: another %s has been working for %d s: wait for it, or end it, and "
			    "try again",
			    root, tool, LOCK_WAIT_S);
	}
	rmdir(root); /* ours, if it is empty */
	return fail(error,
		    "%s: cannot be created or locked: check that " BPFFS
		    " is writable, and that no seccomp filter forbids it",
		    root);
}

bool pins_lock_if_any(void)
{
	int found = pins_look();

	if (found <= 0)
		return !found;
	return !pin_dir_exists(root) || pins_lock(); /* which says why, if that is unknown */
}

/* ---- remove ----------------------------------------------------------------------------- */

bool pin_dir_report_kept(const char *path)
{
	return fail(errno, "%s: cannot be removed: check that " BPFFS " is writable", path);
}

void pin_dir_remove(const char *path)
{
	if (rmdir(path) && errno != ENOENT && errno != ENOTEMPTY && errno != EACCES &&
	    errno != EPERM)
		pin_dir_report_kept(path);
}

void pins_remove_directory(const char *dir)
{
	char path[PATH_MAX], why[BPFFS_WHY_MAX];

	if (*dir || bpffs_is_hidden(why) <= 0)
		pin_dir_remove(pin_path(dir, "", path));
}

void pins_end(void)
{
	DIR *pins = opendir(root);
	const struct dirent *entry;

	while (pins && (entry = readdir(pins))) {
		if (entry->d_name[0] != '.')
			fail(0,
			     "%s/%s: cannot be removed: %s did not make it, or something in it: "
			     "`rm -r` it if nobody needs it",
			     root, entry->d_name, tool);
	}
	if (pins)
		closedir(pins);
	pins_remove_directory("");
}
