// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/default.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* What was there last, in a map that is pinned under the namespace's cookie. */
static bool remember(const char name[PRAGUE_NAME_MAX])
{
	char pin[PIN_NAME_MAX];

	snprintf(pin, sizeof(pin), "%llu", netns_current());
	pin_forget(DEFAULT_PINS, pin);
	return pin_value(DEFAULT_PINS, pin, name, PRAGUE_NAME_MAX);
}

bool default_set(void)
{
	char now[PRAGUE_NAME_MAX];

	if (!read_default(now))
		return false;
	/* What has our name may be one that has ended: this namespace was made while it was there
	 * (net/ipv4/tcp_ipv4.c, tcp_sk_init()).
	 */
	return (!strcmp(now, PRAGUE_NAME) || remember(now)) && write_default(PRAGUE_NAME);
}

/* In the namespace that we are in. `is_ours`: whatever has the name there is ours, also if nothing
 * is remembered, because the namespace began with it.
 */
static void restore_here(bool is_ours)
{
	char pin[PIN_NAME_MAX], former[PRAGUE_NAME_MAX] = PRAGUE_FALLBACK, now[PRAGUE_NAME_MAX];
	int error;

	snprintf(pin, sizeof(pin), "%llu", netns_cookie());
	error = pin_read(DEFAULT_PINS, pin, former, sizeof(former));
	if (error && !is_ours)
		return;
	if (read_default(now) && !strcmp(now, PRAGUE_NAME))
		write_default(former);
	if (!error)
		pin_forget(DEFAULT_PINS, pin);
}

static bool any_remembered(void)
{
	DIR *pins = pins_list(DEFAULT_PINS);

	if (!pins_next(pins, ""))
		return false;
	closedir(pins);
	return true;
}

/* In those namespaces to which `directory` leads: its entries, or a file below each. */
static void restore_below(const char *directory, const char *file, bool is_ours)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	char path[PATH_MAX];

	while (dir && (entry = readdir(dir)) && (is_ours || any_remembered())) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", directory, entry->d_name, file);
		if (!netns_enter(path))
			restore_here(is_ours);
	}
	if (dir)
		closedir(dir);
}

/* A namespace has a name, or a process in it, or both. */
static void restore_elsewhere(bool is_ours)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (home < 0)
		return;
	restore_below(NETNS_DIR, "", is_ours);
	restore_below("/proc", "/ns/net", is_ours);
	if (setns(home, CLONE_NEWNET))
		fail(errno, "cannot go back to our own network namespace");
	close(home);
}

void defaults_restore(bool is_ours)
{
	if (!is_ours && pin_exists(DEFAULT_PINS, "") <= 0)
		return;
	restore_here(is_ours);
	restore_elsewhere(is_ours);
	if (any_remembered())
		printf("  a network namespace with a default of ours has ended, or cannot be found\n");
	pins_remove_all(DEFAULT_PINS);
}
