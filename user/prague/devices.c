// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/devices.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/pins.h"

struct attaching {
	const struct programs *programs;
	bool pinned;
	int attached;
	bool failed;
};

/* The number comes again, the cookie of a namespace does not: a link tells whether the device of
 * its name is still the one that it was made for.
 */
static const char *pin_name(int ifindex, char name[PIN_NAME_MAX])
{
	snprintf(name, PIN_NAME_MAX, "%llu-%d", netns_current(), ifindex);
	return name;
}

/* Is the link that is pinned under this name on the device? Links of a device that is gone have no
 * number.
 */
static bool is_attached(int ifindex)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);
	char name[PIN_NAME_MAX];
	int fd = pin_open(DEVICE_PINS, pin_name(ifindex, name));
	bool attached;

	if (fd < 0)
		return false;
	attached = !bpf_link_get_info_by_fd(fd, &info, &size) && info.tcx.ifindex == (__u32)ifindex;
	close(fd);
	return attached;
}

static bool attach(const struct link *link, const struct attaching *to)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BPF_F_BEFORE);
	char name[PIN_NAME_MAX];
	bool kept;
	int fd;

	if (to->pinned && is_attached(link->ifindex))
		return true;
	fd = bpf_link_create(to->programs->ect1, link->ifindex, BPF_TCX_EGRESS, &opts);
	if (fd == -EEXIST) /* it came from another network namespace with the program */
		return true;
	if (fd == -ENODEV)
		return fail(-fd, "%s: has just been removed", link->name);
	if (fd < 0)
		return fail(-fd,
			    "%s: the kernel refuses the tcx program (%s): does it have "
			    "CONFIG_NET_XGRESS=y?",
			    link->name, strerror(-fd));
	if (!to->pinned)
		return true; /* it stays open until we exit */
	pin_remove(DEVICE_PINS, pin_name(link->ifindex, name));
	kept = pin_create(fd, DEVICE_PINS, name);
	if (!kept)
		bpf_link_detach(fd);
	close(fd);
	return kept;
}

static void attach_one(const struct link *link, void *data)
{
	struct attaching *to = data;

	if (to->failed)
		return;
	to->failed = !attach(link, to);
	to->attached += !to->failed;
}

/* Call `visit` for each device of these names. False: one is not there, which is reported. */
static bool each_named(const char *names, void (*visit)(const struct link *link, void *data),
		       void *data)
{
	char *copy = strdup(names), *rest = copy, *name;
	struct link link;
	bool found = true;

	while (found && (name = strsep(&rest, ","))) {
		found = link_named(name, &link);
		if (found)
			visit(&link, data);
	}
	free(copy);
	return found;
}

static void ignore(const struct link *link, void *data)
{
	(void)link;
	(void)data;
}

bool devices_exist(const char *names)
{
	return !names || each_named(names, ignore, NULL);
}

bool devices_attach(const struct programs *programs, const char *names, bool pinned)
{
	struct attaching to = { .programs = programs, .pinned = pinned };

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

		/* That of a device which is gone cannot be, and need not. */
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
	pins_remove_all(DEVICE_PINS);
}
