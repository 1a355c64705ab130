// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* With capget(2) and capset(2): libcap would be one more library for these two calls. */
#include "cli/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/message.h"

/* PROC_USER_INIT_INO of include/linux/proc_ns.h */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU

struct right {
	const char *name;
	unsigned int capability;
	unsigned int privilege; /* that needs it */
};

static const struct right rights[] = {
	{ "CAP_NET_ADMIN", CAP_NET_ADMIN, PRIVILEGE_NET | PRIVILEGE_LOAD },
	{ "CAP_PERFMON", CAP_PERFMON, PRIVILEGE_LOAD },
	{ "CAP_BPF", CAP_BPF, PRIVILEGE_LOAD },
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN, PRIVILEGE_MOUNT | PRIVILEGE_TYPES },
	{ "CAP_SYS_CHROOT", CAP_SYS_CHROOT, PRIVILEGE_MOUNT },
	/* to open /proc/1/ns/mnt with fewer rights than that process */
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE, PRIVILEGE_MOUNT },
	{ "CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE, PRIVILEGE_FILES },
	{ "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, PRIVILEGE_FILES },
};

#define N_RIGHTS (sizeof(rights) / sizeof(rights[0]))

/* capget(2) and capset(2) have 32 capabilities a word. */
struct capabilities {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
};

static struct capabilities read_own(void)
{
	struct capabilities own = { .header.version = _LINUX_CAPABILITY_VERSION_3 };

	syscall(SYS_capget, &own.header, own.words);
	return own;
}

/* The names of those that we do not have; 0 if there are none. */
static size_t list_missing(const struct capabilities *own, unsigned int privileges, char *missing,
			   size_t size)
{
	size_t used = 0;

	missing[0] = '\0';
	for (size_t i = 0; i < N_RIGHTS; i++) {
		if (!(rights[i].privilege & privileges) ||
		    own->words[CAP_TO_INDEX(rights[i].capability)].effective &
			    CAP_TO_MASK(rights[i].capability))
			continue;
		used += snprintf(missing + used, size - used, "%s%s", used ? ", " : "",
				 rights[i].name);
	}
	return used;
}

/* Those that we began with, before any was given up. */
static const struct capabilities *initial(void)
{
	static struct capabilities begun;

	if (!begun.header.version)
		begun = read_own();
	return &begun;
}

void privilege_keep(unsigned int privileges)
{
	struct capabilities own = read_own();
	__u32 kept[_LINUX_CAPABILITY_U32S_3] = {};

	initial();
	for (size_t i = 0; i < N_RIGHTS; i++) {
		if (rights[i].privilege & privileges)
			kept[CAP_TO_INDEX(rights[i].capability)] |=
				CAP_TO_MASK(rights[i].capability);
	}
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		own.words[i].permitted &= kept[i];
		own.words[i].effective &= own.words[i].permitted;
		own.words[i].inheritable = 0; /* and with it the ambient ones */
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		verbose("no_new_privs: %s", strerror(errno));
	if (syscall(SYS_capset, &own.header, own.words))
		verbose("capset: %s", strerror(errno));
}

bool privilege_suffices(unsigned int privileges, char *missing, size_t size)
{
	const struct capabilities own = read_own();

	return !list_missing(&own, privileges, missing, size);
}

bool privilege_is_confined(void)
{
	struct stat ns;

	return !stat("/proc/self/ns/user", &ns) && ns.st_ino != FIRST_USER_NAMESPACE;
}

const char *privilege_as_root(unsigned int privileges)
{
	static char text[256];
	char missing[192];

	if (privilege_is_confined())
		return "as root of the host (here is a user namespace)";
	if (geteuid())
		return "as root";
	if (!list_missing(initial(), privileges, missing, sizeof(missing)))
		return "outside of the container or sandbox that forbids it to root";
	snprintf(text, sizeof(text), "with %s, which root does not have here", missing);
	return text;
}
