// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/default.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/pins.h"
#include "tcp_prague.h"

#define SYSCTL "/proc/sys/net/ipv4/tcp_congestion_control" /* of the namespace we are in */

static bool read_default(char name[PRAGUE_NAME_MAX])
{
	FILE *file = fopen(SYSCTL, "re");
	bool read;

	memset(name, 0, PRAGUE_NAME_MAX); /* all of it is kept */
	read = file && fscanf(file, "%15s", name) == 1;

	if (file)
		fclose(file);
	return read || fail(errno, SYSCTL ": cannot be read");
}

static bool write_default(const char *name)
{
	FILE *file = fopen(SYSCTL, "we");
	bool written = file && fputs(name, file) >= 0;

	if (file && fclose(file))
		written = false;
	return written || fail(errno,
			       SYSCTL ": cannot be set to %s: run it as root of the "
				      "namespace's host",
			       name);
}

/* What was there, in a map that is pinned under the namespace's cookie. What was there the first
 * time stays.
 */
static bool remember(const char name[PRAGUE_NAME_MAX])
{
	char pin[PIN_NAME_MAX];

	snprintf(pin, sizeof(pin), "%llu", netns_current());
	return pin_exists(DEFAULT_PINS, pin) > 0 ||
	       pin_value(DEFAULT_PINS, pin, name, PRAGUE_NAME_MAX);
}

bool default_set(void)
{
	char now[PRAGUE_NAME_MAX];

	if (!read_default(now))
		return false;
	return !strcmp(now, PRAGUE_NAME) || (remember(now) && write_default(PRAGUE_NAME));
}

/* In the namespace that we are in. */
static void restore_here(void)
{
	char pin[PIN_NAME_MAX], former[PRAGUE_NAME_MAX], now[PRAGUE_NAME_MAX];

	snprintf(pin, sizeof(pin), "%llu", netns_cookie());
	if (pin_read(DEFAULT_PINS, pin, former))
		return;
	if (read_default(now) && !strcmp(now, PRAGUE_NAME))
		write_default(former);
	pin_remove(DEFAULT_PINS, pin);
}

static void restore_in_named(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	DIR *dir = opendir(NETNS_DIR);
	const struct dirent *entry;

	while (home >= 0 && dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !netns_enter(entry->d_name))
			restore_here();
	if (dir)
		closedir(dir);
	if (home >= 0) {
		if (setns(home, CLONE_NEWNET))
			fail(errno, "cannot go back to our own network namespace");
		close(home);
	}
}

void defaults_restore(void)
{
	DIR *rest;

	if (pin_exists(DEFAULT_PINS, "") <= 0)
		return;
	restore_here();
	restore_in_named();
	rest = pins_list(DEFAULT_PINS);
	while (pins_next(rest, ""))
		printf("  the default of a network namespace stays: it has no name, or has ended\n");
	pins_remove_all(DEFAULT_PINS);
}
