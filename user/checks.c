// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "checks.h"

#include <bpf/btf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "message.h"
#include "pins.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"
#define REMEDY_MAX 256

struct capability_name {
	int number;
	const char *name;
};

static bool has_rights(char *remedy)
{
	static const struct capability_name needed[] = {
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE" },
	};
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	size_t used = 0;

	syscall(SYS_capget, &header, data);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		int number = needed[i].number;

		if (data[number / 32].effective & (1U << number % 32))
			continue;
		if (number == CAP_DAC_OVERRIDE && !geteuid())
			continue; /* root's own files */
		used += snprintf(remedy + used, REMEDY_MAX - used, "%s%s", used ? ", " : "",
				 needed[i].name);
	}
	if (used)
		snprintf(remedy + used, REMEDY_MAX - used, " missing: run it as root");
	return !used;
}

static bool has_btf(char *remedy)
{
	if (!access(VMLINUX_BTF, R_OK))
		return true;
	snprintf(remedy, REMEDY_MAX,
		 "no " VMLINUX_BTF ": mount sysfs, or take a kernel with "
		 "CONFIG_DEBUG_INFO_BTF=y");
	return false;
}

/* The kernel's own type of a struct_ops that is a qdisc. */
static bool has_bpf_qdisc(char *remedy)
{
	static const char type[] = "bpf_struct_ops_Qdisc_ops";
	struct btf *btf = btf__load_vmlinux_btf();
	struct utsname kernel;
	bool has = btf && btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT) > 0;

	btf__free(btf);
	if (has)
		return true;
	uname(&kernel);
	snprintf(remedy, REMEDY_MAX,
		 "Linux %.80s has none: boot 6.17 or newer with CONFIG_NET_SCH_BPF=y",
		 kernel.release);
	return false;
}

static bool has_bpffs(char *remedy)
{
	if (pins_have_bpffs() || !access(BPFFS, F_OK)) /* the latter: it will be mounted */
		return true;
	snprintf(remedy, REMEDY_MAX,
		 "no " BPFFS ": mount sysfs, or take a kernel with "
		 "CONFIG_BPF_SYSCALL=y");
	return false;
}

struct check {
	const char *name;
	bool (*passes)(char *remedy);
};

static const struct check rights_check = { "rights to load BPF programs and to attach qdiscs",
					   has_rights };
static const struct check btf_check = { "kernel type information (BTF)", has_btf };
static const struct check bpf_qdisc_check = { "qdiscs in BPF", has_bpf_qdisc };
static const struct check bpffs_check = { "BPF file system at " BPFFS, has_bpffs };

static bool show(const struct check *check)
{
	char remedy[REMEDY_MAX] = "";
	bool passed = check->passes(remedy);

	if (passed)
		printf("ok       %s\n", check->name);
	else
		printf("MISSING  %s: %s\n", check->name, remedy);
	return passed;
}

static bool require(const struct check *check)
{
	char remedy[REMEDY_MAX] = "";

	return check->passes(remedy) || fail(0, "%s: %s", check->name, remedy);
}

bool checks_show(void)
{
	bool passed = show(&rights_check);

	passed &= show(&btf_check);
	passed &= show(&bpf_qdisc_check);
	passed &= show(&bpffs_check);
	return passed;
}

bool checks_host(void)
{
	return require(&rights_check) && require(&btf_check) && require(&bpffs_check);
}

bool checks_bpf_qdisc(void)
{
	return require(&bpf_qdisc_check);
}

bool checks_rights(void)
{
	return require(&rights_check);
}
