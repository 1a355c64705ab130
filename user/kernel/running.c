// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/running.h"

#include <bpf/btf.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

bool release_is_before(const char *release, unsigned int version, unsigned int minor)
{
	unsigned int has, has_minor;

	return sscanf(release, "%u.%u", &has, &has_minor) == 2 &&
	       (has < version || (has == version && has_minor < minor));
}

bool refuse_load(int error)
{
	if (error == EPERM)
		return fail(error, "the kernel does not let us load BPF programs: run it %s",
			    privilege_as_root(PRIVILEGE_LOAD));
	return fail(error, "the kernel refuses the BPF program (-v shows why)");
}

/* Not by btf__load_vmlinux_btf(), which keeps to itself why it fails. */
const struct btf *kernel_types(void)
{
	static struct btf *types;

	if (!types)
		types = btf__parse(VMLINUX_BTF, NULL);
	return types;
}

int type_member(const struct btf *types, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(types, type, BTF_KIND_STRUCT);
	const struct btf_type *found = id < 0 ? NULL : btf__type_by_id(types, (__u32)id);

	for (__u32 i = 0; found && i < btf_vlen(found); i++) {
		const char *name = btf__name_by_offset(types, btf_members(found)[i].name_off);

		if (!strcmp(name, member))
			return (int)btf_member_bit_offset(found, i) / 8;
	}
	return -1;
}

int kernel_has_struct(const char *name)
{
	const struct btf *types = kernel_types();

	return types ? btf__find_by_name_kind(types, name, BTF_KIND_STRUCT) > 0 : -errno;
}

bool socket_ask_for(int fd, const char *congestion)
{
	return !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion,
			   (socklen_t)strlen(congestion));
}

int kernel_has_congestion(const char *name)
{
	int found, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	found = socket_ask_for(fd, name);
	if (!found && errno != ENOENT)
		found = -errno;
	close(fd);
	return found;
}
