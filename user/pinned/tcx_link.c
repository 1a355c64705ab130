// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/tcx_link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "pinned/pins.h"

int tcx_link_create(int program, int ifindex, enum bpf_attach_type type, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	return bpf_link_create(program, ifindex, type, &opts);
}

bool tcx_link_refuse(int error, const char *ifname)
{
	switch (error) {
	case ENODEV:
		return fail(error, "%s: has just been removed", ifname);
	case ERANGE:
		return fail(error,
			    "%s: has as many tcx programs there as the kernel takes: `bpftool net` "
			    "shows whose they are",
			    ifname);
	}
	return fail(error,
		    "%s: the kernel refuses the tcx program (%s): does it have "
		    "CONFIG_NET_XGRESS=y?",
		    ifname, strerror(error));
}

int tcx_link_look(const char *dir, const char *name, struct bpf_link_info *info)
{
	static const struct object_shape shape = {
		.object = OBJECT_LINK,
		.type = BPF_LINK_TYPE_TCX,
	};
	int error, fd = pin_open_as(dir, name, &shape);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	error = object_read(fd, info);
	close(fd);
	return error ?: 1;
}

int tcx_link_is_on(const struct bpf_link_info *info, __u32 ifindex, enum bpf_attach_type type)
{
	__u32 programs[TCX_PROGRAMS_MAX], links[TCX_PROGRAMS_MAX];
	/* The kernel tells links only to who asks for programs. */
	LIBBPF_OPTS(bpf_prog_query_opts, opts, .prog_ids = programs, .link_ids = links,
		    .count = TCX_PROGRAMS_MAX);
	int error;

	if (info->tcx.ifindex != ifindex)
		return 0;
	error = bpf_prog_query_opts((int)ifindex, type, &opts);
	if (error)
		return error;
	for (__u32 i = 0; i < opts.count; i++) {
		if (links[i] == info->id)
			return 1;
	}
	return 0;
}

void tcx_links_sweep(const char *dir, const char *prefix)
{
	DIR *pins = pins_list(dir);
	struct bpf_link_info info;
	const char *name;

	while ((name = pins_next(pins, prefix))) {
		if (tcx_link_look(dir, name, &info) > 0 && !info.tcx.ifindex)
			pin_remove(dir, name);
	}
}
