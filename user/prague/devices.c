// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/devices.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/link.h"
#include "pinned/pins.h"
#include "pinned/tcx_link.h"

struct attaching {
	const struct programs *programs;
	bool pinned;
	int attached;
	bool failed;
};

/* Pin the link under its number. The kernel knows which device it is on, wherever that goes. */
static bool keep(int link)
{
	const __u32 id = object_id(link);
	char name[PIN_NAME_MAX];

	if (id)
		return pin_link(link, DEVICE_PINS, pin_numbered("link-", id, name));
	fail(errno, "the kernel does not show a tcx link: %s", strerror(errno));
	close(link);
	return false;
}

static bool attach(const struct link *link, const struct attaching *to)
{
	int fd = tcx_link_create(to->programs->ect1, link->ifindex, BPF_TCX_EGRESS, BPF_F_BEFORE);

	if (fd == -EEXIST) /* from before, maybe in another network namespace */
		return true;
	if (fd < 0)
		return tcx_link_refuse(-fd, link->name);
	return !to->pinned || keep(fd); /* it stays open until we exit */
}

static void attach_one(const struct link *link, void *data)
{
	struct attaching *to = data;

	if (to->failed)
		return;
	to->failed = !attach(link, to);
	to->attached += !to->failed;
}

/* Call `visit`, if any, for each device of these names. False: one is not there, which is reported.
 */
static bool each_named(const char *names, void (*visit)(const struct link *link, void *data),
		       void *data)
{
	char *copy = strdup(names), *rest = copy, *name;
	struct link link;
	bool found = true;

	while (found && (name = strsep(&rest, ","))) {
		found = link_named(name, &link);
		if (found && visit)
			visit(&link, data);
	}
	free(copy);
	return found;
}

bool devices_exist(const char *names)
{
	return !names || each_named(names, NULL, NULL);
}

bool devices_attach(const struct programs *programs, const char *names, bool pinned)
{
	struct attaching to = { .programs = programs, .pinned = pinned };

	if (pinned)
		tcx_links_sweep(DEVICE_PINS, "");
	if (names)
		return each_named(names, attach_one, &to) && !to.failed;
	return link_each(NULL, attach_one, &to) && !to.failed &&
	       (to.attached || fail(0, "there are no devices in this network namespace"));
}

bool devices_update(const struct programs *programs)
{
	DIR *pins = pins_list(DEVICE_PINS);
	const char *name;
	bool updated = true;

	while ((name = pins_next(pins, ""))) {
		int fd = pin_open(DEVICE_PINS, name);

		/* The link of a device that is gone cannot be updated, and need not. */
		if (fd >= 0 && bpf_link_update(fd, programs->ect1, NULL) && errno != ENOLINK)
			updated = fail(errno, "a tcx program cannot be replaced: `tcp-prague off`, "
					      "and on again");
		if (fd >= 0)
			close(fd);
	}
	return updated;
}

void devices_detach(void)
{
	pins_remove_links(DEVICE_PINS);
}
