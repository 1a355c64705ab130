// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "checks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "finding.h"
#include "message.h"
#include "pins.h"
#include "privilege.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"
#define REMEDY_MAX 256

static bool has_privileges(unsigned int privileges, char *remedy)
{
	char missing[REMEDY_MAX / 2];

	if (privilege_suffices(privileges, missing, sizeof(missing)))
		return true;
	snprintf(remedy, REMEDY_MAX, "%s missing: run it as root", missing);
	return false;
}

static bool has_rights(char *remedy)
{
	return has_privileges(PRIVILEGE_LOAD | PRIVILEGE_NET, remedy);
}

static bool has_rights_to_unload(char *remedy)
{
	return has_privileges(PRIVILEGE_NET, remedy);
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

static bool is_too_old(const char *release)
{
	unsigned int version, minor;

	return sscanf(release, "%u.%u", &version, &minor) == 2 &&
	       (version < 6 || (version == 6 && minor < 17));
}

/* The kernel's types are 5 MB: read once. */
static bool kernel_has_struct(const char *name)
{
	static struct btf *types;

	if (!types)
		types = btf__load_vmlinux_btf();
	return types && btf__find_by_name_kind(types, name, BTF_KIND_STRUCT) > 0;
}

/* The kernel's own type of a struct_ops that is a qdisc. */
static bool has_bpf_qdisc(char *remedy)
{
	struct utsname kernel;

	if (kernel_has_struct("bpf_struct_ops_Qdisc_ops"))
		return true;
	uname(&kernel);
	snprintf(remedy, REMEDY_MAX, "Linux %.80s %s 6.17 or newer with CONFIG_NET_SCH_BPF=y",
		 kernel.release,
		 is_too_old(kernel.release) ? "is too old: boot"
					    : "was built without: boot one of");
	return false;
}

/* kernel/bpf/tcx.c */
static bool has_tcx(char *remedy)
{
	if (kernel_has_struct("tcx_link"))
		return true;
	snprintf(remedy, REMEDY_MAX,
		 "without it nothing can be marked: boot a kernel with CONFIG_NET_XGRESS=y "
		 "(CONFIG_NET_CLS_ACT selects it)");
	return false;
}

/* A struct_ops wants its programs compiled (kernel/bpf/bpf_struct_ops.c). Asked of a program,
 * because only the first network namespace shows net.core.bpf_jit_enable.
 */
static bool has_jit(char *remedy)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const size_t count = sizeof(nothing) / sizeof(nothing[0]);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int fd;

	fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", nothing, count, NULL);
	if (fd < 0) /* without the rights to ask */
		return true;
	if (bpf_prog_get_info_by_fd(fd, &info, &size))
		info.jited_prog_len = 1;
	close(fd);
	if (info.jited_prog_len)
		return true;
	snprintf(remedy, REMEDY_MAX,
		 "it is off: `sysctl net.core.bpf_jit_enable=1`, or take a kernel with "
		 "CONFIG_BPF_JIT=y");
	return false;
}

static bool has_bpffs(char *remedy)
{
	if (!pins_have_bpffs()) {
		if (!access(BPFFS, F_OK)) /* it will be mounted */
			return true;
		snprintf(remedy, REMEDY_MAX,
			 "no " BPFFS ": mount sysfs, or take a kernel with CONFIG_BPF_SYSCALL=y");
		return false;
	}
	if (pins_are_writable())
		return true;
	snprintf(remedy, REMEDY_MAX, "%s",
		 errno == EROFS ? "it is read-only: `mount -o remount,rw " BPFFS "`"
				: "only others may write " PIN_DIR ": run it as root, or have root "
				  "make that directory yours");
	return false;
}

struct check {
	const char *name;
	bool (*passes)(char *remedy);
};

static const struct check rights_check = { "rights to load BPF programs and to attach qdiscs",
					   has_rights };
static const struct check unload_check = { "rights to remove qdiscs", has_rights_to_unload };
static const struct check btf_check = { "kernel type information (BTF)", has_btf };
static const struct check bpf_qdisc_check = { "qdiscs in BPF", has_bpf_qdisc };
static const struct check tcx_check = { "BPF programs at tcx", has_tcx };
static const struct check jit_check = { "compiler for BPF programs (JIT)", has_jit };
static const struct check bpffs_check = { "BPF file system at " BPFFS, has_bpffs };

static bool show(const struct check *check)
{
	char remedy[REMEDY_MAX] = "";
	bool passed = check->passes(remedy);

	if (passed)
		return finding_show(FINDING_OK, "%s", check->name);
	return finding_show(FINDING_MISSING, "%s: %s", check->name, remedy);
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
	passed &= show(&tcx_check);
	passed &= show(&jit_check);
	passed &= show(&bpffs_check);
	return passed;
}

bool checks_host(void)
{
	return require(&rights_check) && require(&btf_check) && require(&bpffs_check);
}

bool checks_kernel(void)
{
	return require(&bpf_qdisc_check) && require(&jit_check);
}

bool checks_rights_to_unload(void)
{
	return require(&unload_check);
}
