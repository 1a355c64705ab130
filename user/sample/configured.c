// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/configured.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aqm/aqm.h"
#include "attach/ingress.h"
#include "cli/config_dir.h"
#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/qdisc.h"

/* Where `systemctl enable` puts its links. */
#define UNITS "/etc/systemd/system"

struct looking {
	const struct configuration *configuration;
	const char *ifname; /* NULL: all */
	struct configured *configured;
};

void configuration_open(const char *path, struct configuration *configuration)
{
	configuration->files = opendir(path);
	if (!configuration->files)
		fail(errno, "--config %s: cannot be read: %s", path, strerror(errno));
	configuration->units = open(UNITS, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void configuration_close(struct configuration *configuration)
{
	if (configuration->files)
		closedir(configuration->files);
	if (configuration->units >= 0)
		close(configuration->units);
}

/* ---- is it to have one? All return 1, 0, or -errno: unknown ------------------------------ */

/* As systemd-escape(1) writes a name. */
static void escape(const char *name, char text[4 * IF_NAMESIZE])
{
	size_t used = 0;

	for (const char *c = name; *c; c++) {
		if (isalnum((unsigned char)*c) || *c == '_' || *c == ':' ||
		    (*c == '.' && c != name))
			text[used++] = *c;
		else
			used += (size_t)sprintf(text + used, "\\x%02x", (unsigned char)*c);
	}
	text[used] = '\0';
}

static int is_enabled(const struct configuration *configuration, const char *ifname)
{
	char name[4 * IF_NAMESIZE], link[2 * sizeof(name) + 80];

	escape(ifname, name);
	snprintf(link, sizeof(link), "sys-subsystem-net-devices-%s.device.wants/dualpi2@%s.service",
		 name, name);
	if (configuration->units < 0)
		return 0;
	if (!faccessat(configuration->units, link, F_OK, AT_SYMLINK_NOFOLLOW))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static int is_configured(const struct configuration *configuration, const char *ifname)
{
	bool has_default = false;
	struct dirent *file;

	rewinddir(configuration->files);
	for (errno = 0; (file = readdir(configuration->files)); errno = 0) {
		if (config_names(file->d_name, ifname))
			return 1;
		has_default |= config_names(file->d_name, CONFIG_DEFAULT);
	}
	if (errno)
		return -errno;
	return has_default ? is_enabled(configuration, ifname) : 0;
}

static void visit_link(const struct link *link, void *data)
{
	const struct looking *looking = data;
	struct configured *configured = looking->configured;
	struct configured_interface *items;
	int found;

	if (looking->ifname && strcmp(looking->ifname, link->name))
		return;
	found = expect_known(is_configured(looking->configuration, link->name), "the file for %s",
			     link->name);
	items = found > 0 ? realloc(configured->items, (configured->count + 1) * sizeof(*items))
			  : NULL;
	if (found && !items)
		configured->is_known = false;
	if (!items)
		return;
	configured->items = items;
	memcpy(items[configured->count++].ifname, link->name, IF_NAMESIZE);
}

/* ---- has it one? ----------------------------------------------------------------------- */

static bool is_ours(const struct qdisc *qdisc, void *data)
{
	(void)data;
	return aqm_of_kind(qdisc->kind);
}

/* 1, 0, or -errno, which is reported: unknown. */
static int is_attached(const char *ifname)
{
	struct ingress ingress;

	if (!ingress_find(ifname, &ingress))
		return -EIO;
	return ingress.aqm ? 1 : qdisc_each((int)ingress.key.ifindex, is_ours, NULL);
}

void configured_look(const struct configuration *configuration, const char *ifname,
		     struct configured *configured)
{
	struct looking looking = { configuration, ifname, configured };

	*configured = (struct configured){ .is_known = configuration->files };
	if (!configured->is_known)
		return;
	if (!link_each(NULL, visit_link, &looking))
		configured->is_known = false;
	for (size_t i = 0; i < configured->count; i++) {
		configured->items[i].attached = is_attached(configured->items[i].ifname);
		if (configured->items[i].attached < 0)
			configured->is_known = false;
	}
}
