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

#define NAME_MAX_ 64

struct attaching {
	const struct programs *programs;
	bool pinned;
	int attached;
	bool failed;
};

/* The number comes again, the cookie of a namespace does not: a link tells whether the device of
 * its name is still the one that it was made for.
 */
static const char *pin_name(int ifindex, char name[NAME_MAX_])
{
	snprintf(name, NAME_MAX_, "%llu-%d", netns_current(), ifindex);
	return name;
}

/* Is the link that is pinned under this name on the device? Links of a device that is gone have no
 * number.
 */
static bool is_attached(int ifindex)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);
	char name[NAME_MAX_];
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
	char name[NAME_MAX_];
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

bool devices_attach(const struct programs *programs, const char *names, bool pinned)
{
	struct attaching to = { .programs = programs, .pinned = pinned };
	char *copy, *rest, *name;
	struct link link;

	if (!names)
		return link_each(NULL, attach_one, &to) && !to.failed &&
		       (to.attached || fail(0, "there are no devices in this network namespace"));
	copy = rest = strdup(names);
	while (!to.failed && (name = strsep(&rest, ","))) {
		to.failed = !link_named(name, &link);
		attach_one(&link, &to);
	}
	free(copy);
	return !to.failed;
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
	DIR *pins = pins_list(DEVICE_PINS);
	const char *name;

	while ((name = pins_next(pins, "")))
		pin_remove(DEVICE_PINS, name);
	pins_remove_directory(DEVICE_PINS);
}
