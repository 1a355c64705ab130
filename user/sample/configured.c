// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/configured.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aqm/aqm.h"
#include "attach/ingress.h"
#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/qdisc.h"

struct looking {
	int directory;
	const char *ifname; /* NULL: all */
	struct configured *configured;
};

int configured_open(const char *path)
{
	int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		fail(errno, "--config %s: cannot be opened: %s", path, strerror(errno));
	return directory;
}

/* 1; 0: it has none; -errno: unknown. */
static int has_file(int directory, const char *ifname)
{
	char name[IF_NAMESIZE + sizeof(".conf")];

	snprintf(name, sizeof(name), "%s.conf", ifname);
	if (!faccessat(directory, name, F_OK, 0))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static void visit_link(const struct link *link, void *data)
{
	const struct looking *looking = data;
	struct configured *configured = looking->configured;
	struct configured_interface *items;
	int found;

	if (looking->ifname && strcmp(looking->ifname, link->name))
		return;
	found = expect_known(has_file(looking->directory, link->name), "the file for %s",
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

void configured_look(int directory, const char *ifname, struct configured *configured)
{
	struct looking looking = { directory, ifname, configured };

	*configured = (struct configured){ .is_known = directory >= 0 };
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
