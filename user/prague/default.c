// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/default.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/pins.h"
#include "tcp_prague.h"

#define SYSCTL "/proc/sys/net/ipv4/tcp_congestion_control" /* of the namespace we are in */
#define NETNS_DIR "/run/netns"
#define CONGESTION_MAX 16 /* TCP_CA_NAME_MAX */
#define COOKIE_MAX 24

static bool read_default(char name[CONGESTION_MAX])
{
	FILE *file = fopen(SYSCTL, "re");
	bool read = file && fscanf(file, "%15s", name) == 1;

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
static bool remember(const char *name)
{
	char pin[COOKIE_MAX], value[CONGESTION_MAX] = "";
	__u32 zero = 0;
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "prague_default", sizeof(zero), sizeof(value),
				 1, NULL);
	bool kept;

	snprintf(pin, sizeof(pin), "%llu", netns_current());
	if (pin_exists(DEFAULT_PINS, pin) > 0) {
		if (map >= 0)
			close(map);
		return true;
	}
	if (map < 0)
		return fail(errno, "the kernel refuses to create a BPF map: %s", strerror(errno));
	snprintf(value, sizeof(value), "%s", name);
	kept = !bpf_map_update_elem(map, &zero, value, BPF_ANY) &&
	       pin_create(map, DEFAULT_PINS, pin);
	close(map);
	return kept;
}

bool default_set(void)
{
	char now[CONGESTION_MAX];

	if (!read_default(now))
		return false;
	return !strcmp(now, PRAGUE_NAME) || (remember(now) && write_default(PRAGUE_NAME));
}

/* In the namespace that we are in. */
static void restore_here(__u64 cookie)
{
	char pin[COOKIE_MAX], former[CONGESTION_MAX] = "", now[CONGESTION_MAX];
	__u32 zero = 0;
	int map;

	snprintf(pin, sizeof(pin), "%llu", cookie);
	map = pin_open(DEFAULT_PINS, pin);
	if (map < 0)
		return;
	if (!bpf_map_lookup_elem(map, &zero, former) && read_default(now) &&
	    !strcmp(now, PRAGUE_NAME))
		write_default(former);
	pin_remove(DEFAULT_PINS, pin);
	close(map);
}

static __u64 cookie_here(void)
{
	__u64 cookie = 0;
	socklen_t size = sizeof(cookie);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
		close(fd);
	}
	return cookie;
}

static void restore_in(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !setns(fd, CLONE_NEWNET))
		restore_here(cookie_here());
	if (fd >= 0)
		close(fd);
}

static void restore_in_named(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	DIR *dir = opendir(NETNS_DIR);
	const struct dirent *entry;

	while (home >= 0 && dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			restore_in(entry->d_name);
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
	const char *name;

	if (pin_exists(DEFAULT_PINS, "") <= 0)
		return;
	restore_here(netns_current());
	restore_in_named();
	rest = pins_list(DEFAULT_PINS);
	while ((name = pins_next(rest, ""))) {
		/* A namespace that ended, most likely. */
		verbose("the network namespace %s cannot be found", name);
		pin_remove(DEFAULT_PINS, name);
	}
	pins_remove_directory(DEFAULT_PINS);
}
