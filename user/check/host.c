// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/host.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "aqm/aqm.h"
#include "check/report.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/pins.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

/* Why the kernel takes no programs from us in a user namespace, whose capabilities we have. */
#define CONFINED_TEXT \
	"here, in a user namespace, the kernel takes no BPF programs: run it as root of the host"

/* The cause and what helps, and the errno (or 0) of what failed. */
struct verdict {
	char text[256];
	int error;
};

enum answer {
	ANSWER_YES,
	ANSWER_NO,
	ANSWER_UNTOLD, /* by lack of a right, which another check tells */
};

__attribute__((format(printf, 3, 4))) static enum answer no(struct verdict *verdict, int error,
							    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict->text, sizeof(verdict->text), format, args);
	va_end(args);
	verdict->error = error;
	return ANSWER_NO;
}

static enum answer has_privileges(unsigned int privileges, struct verdict *verdict)
{
	char missing[128];

	if (privilege_suffices(privileges, missing, sizeof(missing)))
		return ANSWER_YES;
	return no(verdict, 0, "%s missing: run it %s", missing, privilege_as_root());
}

/* An instruction or two that every kernel takes from those who may load programs at all. */
static int load_least(enum bpf_prog_type type)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, NULL, "GPL", nothing, sizeof(nothing) / sizeof(nothing[0]),
			     NULL);
}

static enum answer has_rights(struct verdict *verdict)
{
	return has_privileges(PRIVILEGE_LOAD | PRIVILEGE_NET, verdict);
}

static bool is_anything_loaded(void)
{
	for (size_t i = 0; aqms[i]; i++) {
		if (pin_exists(aqms[i]->name, "registration") > 0)
			return true;
	}
	return false;
}

/* In a user namespace the capabilities are there, but do not count for loading. What is loaded
 * already can be used. Whoever loads gets to know it then.
 */
static enum answer has_rights_that_count(struct verdict *verdict)
{
	enum answer answer = has_rights(verdict);
	int fd;

	if (answer != ANSWER_YES || !privilege_is_confined() || is_anything_loaded())
		return answer;
	fd = load_least(BPF_PROG_TYPE_SCHED_CLS);
	if (fd < 0)
		return no(verdict, -fd, CONFINED_TEXT);
	close(fd);
	return ANSWER_YES;
}

static enum answer has_rights_to_unload(struct verdict *verdict)
{
	return has_privileges(PRIVILEGE_NET, verdict);
}

static enum answer has_btf(struct verdict *verdict)
{
	if (!access(VMLINUX_BTF, R_OK))
		return ANSWER_YES;
	if (errno != ENOENT)
		return no(verdict, errno, VMLINUX_BTF ": cannot be read: %s", strerror(errno));
	return no(verdict, errno,
		  "no " VMLINUX_BTF ": mount sysfs, or take a kernel with "
		  "CONFIG_DEBUG_INFO_BTF=y");
}

static bool is_too_old(const char *release)
{
	unsigned int version, minor;

	return sscanf(release, "%u.%u", &version, &minor) == 2 &&
	       (version < 6 || (version == 6 && minor < 17));
}

/* The kernel's types are 5 MB: read once. Not by btf__load_vmlinux_btf(), which keeps to itself
 * why it fails.
 */
static enum answer kernel_has_struct(const char *name, struct verdict *verdict)
{
	static struct btf *types;

	if (!types)
		types = btf__parse(VMLINUX_BTF, NULL);
	if (!types)
		return no(verdict, errno,
			  "cannot be told without the kernel's type information (BTF): %s",
			  strerror(errno));
	return btf__find_by_name_kind(types, name, BTF_KIND_STRUCT) > 0 ? ANSWER_YES : ANSWER_NO;
}

/* The kernel's own type of a struct_ops that is a qdisc. */
static enum answer has_bpf_qdisc(struct verdict *verdict)
{
	enum answer answer = kernel_has_struct("bpf_struct_ops_Qdisc_ops", verdict);
	struct utsname kernel;

	if (answer != ANSWER_NO || verdict->error)
		return answer;
	uname(&kernel);
	return no(verdict, 0, "Linux %.80s %s 6.17 or newer with CONFIG_NET_SCH_BPF=y",
		  kernel.release,
		  is_too_old(kernel.release) ? "is too old: boot"
					     : "was built without: boot one of");
}

/* kernel/bpf/tcx.c */
static enum answer has_tcx(struct verdict *verdict)
{
	enum answer answer = kernel_has_struct("tcx_link", verdict);

	if (answer != ANSWER_NO || verdict->error)
		return answer;
	return no(verdict, 0,
		  "without it nothing can be marked: boot a kernel with CONFIG_NET_XGRESS=y "
		  "(CONFIG_NET_CLS_ACT selects it)");
}

/* A struct_ops wants its programs compiled (kernel/bpf/bpf_struct_ops.c). Asked of a program,
 * because only the first network namespace shows net.core.bpf_jit_enable.
 */
static enum answer has_jit(struct verdict *verdict)
{
	int error, fd = load_least(BPF_PROG_TYPE_SOCKET_FILTER);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (fd == -EPERM)
		return ANSWER_UNTOLD;
	if (fd < 0)
		return no(verdict, -fd, "cannot be told: %s", strerror(-fd));
	error = bpf_prog_get_info_by_fd(fd, &info, &size);
	close(fd);
	if (error)
		return no(verdict, -error, "cannot be told: %s", strerror(-error));
	if (info.jited_prog_len)
		return ANSWER_YES;
	return no(verdict, 0,
		  "it is off: `sysctl net.core.bpf_jit_enable=1`, or take a kernel with "
		  "CONFIG_BPF_JIT=y");
}

static enum answer has_bpffs(struct verdict *verdict)
{
	int found = pins_find_bpffs();

	if (found < 0)
		return no(verdict, -found, BPFFS_HIDDEN_TEXT ": run it %s", privilege_as_root());
	if (!found && !access(BPFFS, F_OK)) /* it will be mounted */
		return ANSWER_YES;
	if (!found)
		return no(verdict, errno,
			  "no " BPFFS ": mount sysfs, or take a kernel with CONFIG_BPF_SYSCALL=y");
	if (pins_are_writable())
		return ANSWER_YES;
	if (errno == EROFS)
		return no(verdict, errno, "it is read-only: `mount -o remount,rw " BPFFS "`");
	return no(verdict, errno,
		  "only others may write " PIN_DIR ": run it %s, or have root make that directory "
		  "yours",
		  privilege_as_root());
}

struct check {
	const char *name;
	enum answer (*answer)(struct verdict *verdict);
};

#define RIGHTS_CHECK "rights to load BPF programs and to attach qdiscs"

static const struct check rights_check = { RIGHTS_CHECK, has_rights };
static const struct check counting_check = { RIGHTS_CHECK, has_rights_that_count };
static const struct check unload_check = { "rights to remove qdiscs", has_rights_to_unload };
static const struct check btf_check = { "kernel type information (BTF)", has_btf };
static const struct check bpf_qdisc_check = { "qdiscs in BPF", has_bpf_qdisc };
static const struct check tcx_check = { "BPF programs at tcx", has_tcx };
static const struct check jit_check = { "compiler for BPF programs (JIT)", has_jit };
static const struct check bpffs_check = { "BPF file system at " BPFFS, has_bpffs };

static bool show(const struct check *check)
{
	struct verdict verdict = {};

	switch (check->answer(&verdict)) {
	case ANSWER_YES:
		return report_line(REPORT_OK, "%s", check->name);
	case ANSWER_UNTOLD:
		return report_line(REPORT_HINT, "%s: cannot be told without the rights",
				   check->name);
	case ANSWER_NO:
		break;
	}
	return report_line(REPORT_MISSING, "%s: %s", check->name,
			   message_shortage(verdict.error) ?: verdict.text);
}

static bool require(const struct check *check)
{
	struct verdict verdict = {};

	return check->answer(&verdict) != ANSWER_NO ||
	       fail(verdict.error, "%s: %s", check->name, verdict.text);
}

bool host_report(void)
{
	bool passed = show(&counting_check);

	passed &= show(&btf_check);
	passed &= show(&bpf_qdisc_check);
	passed &= show(&tcx_check);
	passed &= show(&jit_check);
	passed &= show(&bpffs_check);
	return passed;
}

bool host_is_fit(void)
{
	return require(&rights_check) && require(&btf_check) && require(&bpffs_check);
}

bool host_may_unload(void)
{
	return require(&unload_check);
}

bool host_refused(int error)
{
	if (error == EPERM && privilege_is_confined())
		return fail(error, CONFINED_TEXT);
	if (message_shortage(error))
		return fail(error, "cannot load the BPF programs");
	return require(&bpf_qdisc_check) && require(&jit_check) &&
	       fail(error, "the kernel refuses the BPF programs (6.17 to 7.3 are known to take "
			   "them; -v shows why)");
}
