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
#include "cli/privilege.h"
#include "kernel/netns.h"
#include "pinned/pins.h"
#include "prague/opt_in.h"
#include "prague/programs.h"
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
	return written || fail(errno, SYSCTL ": cannot be set to %s (%s): run it %s", name,
			       strerror(errno), privilege_as_root(PRIVILEGE_NET | PRIVILEGE_FILES));
}

/* The former default, in a map that is pinned under the namespace's cookie. */
struct remembered {
	char name[PRAGUE_NAME_MAX];
	struct netns_handle netns;
};

static bool remember(const char name[PRAGUE_NAME_MAX])
{
	struct remembered remembered;
	char pin[PIN_NAME_MAX];
	int error = netns_handle(&remembered.netns);

	if (error)
		return fail(-error, "cannot look at the network namespace: %s", strerror(-error));
	memcpy(remembered.name, name, sizeof(remembered.name));
	pin_numbered("", netns_current(), pin);
	pin_forget(DEFAULT_PINS, pin);
	return pin_value(DEFAULT_PINS, pin, &remembered, sizeof(remembered));
}

bool default_set(void)
{
	char now[PRAGUE_NAME_MAX];

	if (!read_default(now))
		return false;
	/* A default with our name may be of a Prague that has ended: this namespace was made while
	 * it was there (net/ipv4/tcp_ipv4.c, tcp_sk_init()).
	 */
	return (!strcmp(now, PRAGUE_NAME) || remember(now)) && write_default(PRAGUE_NAME);
}

/* In the namespace that we are in. */
static bool put_back(const char *name)
{
	char now[PRAGUE_NAME_MAX];

	return read_default(now) && (strcmp(now, PRAGUE_NAME) != 0 || write_default(name));
}

/* Could we enter any namespace? The kernel gives the same error for one that we may not enter as
 * for one that has ended.
 */
static bool may_enter_all(void)
{
	char missing[128];

	return !privilege_is_confined() && netns_handles_open_here() &&
	       privilege_suffices(PRIVILEGE_MOUNT, missing, sizeof(missing));
}

/* 0, or -errno. */
static int read_remembered(const char *pin, struct remembered *remembered)
{
	int error = pin_read(DEFAULT_PINS, pin, remembered, sizeof(*remembered));

	remembered->name[PRAGUE_NAME_MAX - 1] = '\0';
	return error;
}

/* Put back the default that a pin remembers. True: nothing of ours is left in that namespace. */
static bool restore(const char *pin)
{
	struct remembered remembered;
	int error = read_remembered(pin, &remembered);

	if (error && error != -EPROTO)
		return pin_refuse(error, DEFAULT_PINS, pin);
	if (error)
		return fail(-error,
			    PRAGUE_PIN_DIR "/" DEFAULT_PINS
					   "/%s: is of another version: `rm` it, and "
					   "set net.ipv4.tcp_congestion_control yourself",
			    pin);
	if (pin_number(pin) != netns_cookie())
		error = netns_enter_handle(&remembered.netns);
	if (!error)
		return put_back(remembered.name);
	if (!may_enter_all())
		return fail(-error,
			    "the network namespace with the cookie %s cannot be entered, so its "
			    "default may still be " PRAGUE_NAME ": run it %s",
			    pin, privilege_as_root(PRIVILEGE_MOUNT));
	printf("  the network namespace with the cookie %s has ended, or only sockets are left of "
	       "it\n",
	       pin);
	return true;
}

static void restore_remembered(void)
{
	DIR *pins = pins_list(DEFAULT_PINS);
	const char *pin;

	while ((pin = pins_next(pins, ""))) {
		if (restore(pin))
			pin_forget(DEFAULT_PINS, pin);
	}
}

/* In the namespace that we are in, which may have begun with our default: then nothing is
 * remembered. (restore_remembered() reports what cannot be read.)
 */
static void put_back_here(void)
{
	struct remembered remembered;
	char pin[PIN_NAME_MAX];
	int error = read_remembered(pin_numbered("", netns_cookie(), pin), &remembered);

	if (error == -ENOENT)
		put_back(PRAGUE_FALLBACK);
	else if (!error && put_back(remembered.name))
		pin_forget(DEFAULT_PINS, pin);
}

/* In those namespaces to which `directory` leads: its entries, or a file below each. */
static void put_back_below(const char *directory, const char *file)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	char path[PATH_MAX];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", directory, entry->d_name, file);
		if (!netns_enter(path))
			put_back_here();
	}
	if (dir)
		closedir(dir);
}

/* In all namespaces that have a name or a process. */
static void put_back_everywhere(void)
{
	put_back_here();
	put_back_below(NETNS_DIR, "");
	put_back_below("/proc", "/ns/net");
}

void defaults_restore(bool is_ours)
{
	int home;

	if (!is_ours && pin_exists(DEFAULT_PINS, "") <= 0)
		return;
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || !netns_current()) {
		fail(errno, "cannot look at the network namespace: %s", strerror(errno));
		return;
	}
	if (is_ours)
		put_back_everywhere();
	restore_remembered();
	if (netns_cookie() != netns_current() && setns(home, CLONE_NEWNET))
		fail(errno, "cannot go back to our own network namespace");
	close(home);
	pins_remove_directory(DEFAULT_PINS);
}

void defaults_sweep(void)
{
	DIR *pins = pins_list(DEFAULT_PINS);
	int find = pins ? opt_in_finder() : -1;
	const char *pin;

	while ((pin = pins_next(pins, ""))) {
		if (find >= 0 && netns_has_ended(find, pin_number(pin)) > 0)
			pin_forget(DEFAULT_PINS, pin);
	}
	if (find >= 0)
		close(find);
	pins_remove_directory(DEFAULT_PINS); /* if it is empty */
}
