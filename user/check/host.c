// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/host.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "aqm/aqm.h"
#include "check/report.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/running.h"
#include "pinned/pins.h"
#include "pinned/registration.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

/* Why the kernel takes no programs from us in a user namespace, whose capabilities we have. */
#define CONFINED_TEXT \
	"here, in a user namespace, the kernel takes no BPF programs: run it as root of the host"

/* Where trixie, whose own kernel is too old, has a newer one. */
#if defined(__x86_64__)
#define TRIXIE_KERNEL "; trixie-backports has linux-image-amd64"
#elif defined(__aarch64__)
#define TRIXIE_KERNEL "; trixie-backports has linux-image-arm64"
#else
#define TRIXIE_KERNEL ""
#endif

#define RIGHTS_CHECK "rights to load BPF programs and to attach qdiscs"

/* What is in the way. Always false. */
#define obstacle(name, error, ...) report_obstacle(STATUS_FAILURE, error, name, __VA_ARGS__)

static int has_privileges(unsigned int privileges, const char *name)
{
	char missing[128];

	if (privilege_suffices(privileges, missing, sizeof(missing)))
		return 1;
	return obstacle(name, 0, "%s missing: run it %s", missing, privilege_as_root(privileges));
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

static int has_rights(const char *name)
{
	return has_privileges(PRIVILEGE_LOAD | PRIVILEGE_NET, name);
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
static int has_rights_that_count(const char *name)
{
	int answer = has_rights(name);
	int fd;

	if (answer <= 0 || !privilege_is_confined() || is_anything_loaded())
		return answer;
	fd = load_least(BPF_PROG_TYPE_SCHED_CLS);
	if (fd < 0)
		return obstacle(name, -fd, CONFINED_TEXT);
	close(fd);
	return 1;
}

static int has_rights_to_unload(const char *name)
{
	return has_privileges(PRIVILEGE_NET, name);
}

static int has_btf(const char *name)
{
	if (!access(VMLINUX_BTF, R_OK))
		return 1;
	if (errno != ENOENT)
		return obstacle(name, errno, VMLINUX_BTF ": cannot be read: %s", strerror(errno));
	return obstacle(name, errno,
			"no " VMLINUX_BTF ": mount sysfs, or take a kernel with "
			"CONFIG_DEBUG_INFO_BTF=y");
}

/* os-release(5) */
static bool is_trixie(void)
{
	FILE *file = fopen("/etc/os-release", "re");
	bool found = false;
	char line[256];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = !strcmp(line, "VERSION_CODENAME=trixie\n");
	fclose(file);
	return found;
}

/* The kernel's own type of a struct_ops that is a qdisc. */
static int has_bpf_qdisc(const char *name)
{
	int found = kernel_has_struct("bpf_struct_ops_Qdisc_ops");
	struct utsname kernel;

	if (found)
		return found;
	uname(&kernel);
	return obstacle(name, 0, "Linux %.80s %s 6.17 or newer with CONFIG_NET_SCH_BPF=y%s",
			kernel.release,
			release_is_before(kernel.release, 6, 17) ? "is too old: boot"
								 : "was built without: boot one of",
			is_trixie() ? TRIXIE_KERNEL : "");
}

/* kernel/bpf/tcx.c */
static int has_tcx(const char *name)
{
	int found = kernel_has_struct("tcx_link");

	if (found)
		return found;
	return obstacle(name, 0,
			"without it nothing can be marked: boot a kernel with CONFIG_NET_XGRESS=y "
			"(CONFIG_NET_CLS_ACT selects it)");
}

/* A struct_ops wants its programs compiled (kernel/bpf/bpf_struct_ops.c). Asked of a program,
 * because only the first network namespace shows net.core.bpf_jit_enable.
 */
static int has_jit(const char *name)
{
	int error, fd = load_least(BPF_PROG_TYPE_SOCKET_FILTER);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (fd == -EPERM)
		return -EPERM;
	if (fd < 0)
		return obstacle(name, -fd, "cannot be told: %s", strerror(-fd));
	error = bpf_prog_get_info_by_fd(fd, &info, &size);
	close(fd);
	if (error)
		return obstacle(name, -error, "cannot be told: %s", strerror(-error));
	if (info.jited_prog_len)
		return 1;
	return obstacle(name, 0,
			"it is off: `sysctl net.core.bpf_jit_enable=1`, or take a kernel with "
			"CONFIG_BPF_JIT=y");
}

static int has_bpffs(const char *name)
{
	char why[PINS_WHY_MAX];
	int found = pins_may_be_made(why);

	return found > 0 || obstacle(name, -found, "%s", why);
}

/* As the kernel will see it when it is to register them. */
static int has_free_names(const char *name)
{
	char remedy[BPFFS_WHY_MAX];

	for (size_t i = 0; aqms[i]; i++) {
		int elsewhere = registration_elsewhere(aqms[i]);

		if (elsewhere < 0)
			return elsewhere;
		if (elsewhere)
			return obstacle(name, EEXIST, "%s " REGISTRATION_ELSEWHERE ": %s",
					aqms[i]->kind, registration_remedy(remedy));
	}
	return 1;
}

/* In the order in which they are asked. `passes` returns 1; 0, which is reported; -errno: it cannot
 * be told.
 */
static const struct check {
	const char *name;
	int (*passes)(const char *name);
	unsigned int asked_by; /* HOST_* */
} checks[] = {
	{ RIGHTS_CHECK, has_rights_that_count, HOST_REPORT },
	{ RIGHTS_CHECK, has_rights, HOST_ATTACH },
	{ "rights to remove qdiscs", has_rights_to_unload, HOST_UNLOAD },
	{ "kernel type information (BTF)", has_btf, HOST_REPORT | HOST_ATTACH },
	{ "qdiscs in BPF", has_bpf_qdisc, HOST_REPORT | HOST_REFUSED },
	{ "BPF programs at tcx", has_tcx, HOST_REPORT },
	{ "compiler for BPF programs (JIT)", has_jit, HOST_REPORT | HOST_REFUSED },
	{ "BPF file system at " BPFFS, has_bpffs, HOST_REPORT | HOST_ATTACH },
	{ "names of the qdiscs", has_free_names, HOST_REPORT },
};

static bool show(const struct check *check)
{
	int passes = check->passes(check->name);

	if (passes > 0)
		return report_line(REPORT_OK, "%s", check->name);
	if (passes == -EPERM || passes == -ENOENT) /* which another check tells */
		return report_line(REPORT_HINT, "%s: cannot be told without %s", check->name,
				   passes == -EPERM ? "the rights" : "type information");
	return passes && obstacle(check->name, -passes, "cannot be told: %s", strerror(-passes));
}

bool host_passes(enum host_need need)
{
	bool passed = true;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!(checks[i].asked_by & need))
			continue;
		if (need == HOST_REPORT)
			passed &= show(&checks[i]);
		else if (!checks[i].passes(checks[i].name))
			return false;
	}
	return passed;
}

bool host_refused(int error)
{
	if (error == EPERM && privilege_is_confined())
		return fail(error, CONFINED_TEXT);
	if (message_shortage(error))
		return fail(error, "cannot load the BPF programs");
	return host_passes(HOST_REFUSED) &&
	       fail(error, "the kernel refuses the BPF programs (6.17 to 7.3 are known to take "
			   "them; -v shows why)");
}
