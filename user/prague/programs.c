// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/options.h"
#include "kernel/running.h"
#include "kernel/struct_ops.h"
#include "pinned/pins.h"
#include "prague.skel.h"
#include "tcp_prague.h"

#define TOO_OLD                                                                         \
	"Linux %.80s has no Accurate ECN for a congestion control: boot 6.18 or later " \
	"(Debian trixie-backports has it)"

#define REGISTRATION "registration" /* pin of the link */

#define PROGRAM_SHAPE(program, of_type) \
	.object = OBJECT_PROGRAM, .name = "prague_" #program, .type = BPF_PROG_TYPE_##of_type
#define REGISTRATION_SHAPE .object = OBJECT_LINK, .type = BPF_LINK_TYPE_STRUCT_OPS

static const struct pin {
	size_t offset;
	const char *name;
	struct object_shape shape;
} pins[] = {
	{ offsetof(struct programs, config), "prague_config", { PRAGUE_CONFIG_SHAPE } },
	{ offsetof(struct programs, sockets), "prague_sockets", { PRAGUE_SOCKETS_SHAPE } },
	{ offsetof(struct programs, classic), "prague_classic", { PRAGUE_CLASSIC_SHAPE } },
	{ offsetof(struct programs, ect1), "prague_ect1", { PROGRAM_SHAPE(ect1, SCHED_CLS) } },
	{ offsetof(struct programs, status), "prague_status", { PROGRAM_SHAPE(report, TRACING) } },
	{ offsetof(struct programs, registration), REGISTRATION, { REGISTRATION_SHAPE } },
};

#define N_PINS (sizeof(pins) / sizeof(pins[0]))

static int *pin_fd(const struct programs *programs, const struct pin *pin)
{
	return (int *)((char *)programs + pin->offset);
}

/* ---- load -------------------------------------------------------------------------- */

#define OPS "tcp_congestion_ops"
#define OPS_MAP "prague" /* bpf/prague.bpf.c */

/* cwnd_event_tx_start() is of 7.2; before, cwnd_event() is told of it. 1, 0, or -errno. */
static int tells_of_tx_start(void)
{
	const struct btf *types = kernel_types();

	return types ? type_member(types, OPS, "cwnd_event_tx_start") >= 0 : -errno;
}

/* The skeleton has no member for it, as for no array. */
static void set_name(struct prague_bpf *skel, const char *name)
{
	size_t size;
	char *ops = bpf_map__initial_value(skel->maps.prague, &size);
	int offset = type_member(bpf_object__btf(skel->obj), OPS, "name");

	snprintf(ops + offset, size - (size_t)offset, "%s", name);
}

static bool refuse_programs(int error)
{
	struct utsname kernel;

	uname(&kernel);
	if (release_is_before(kernel.release, PRAGUE_KERNEL))
		return fail(error, TOO_OLD, kernel.release);
	if (error == EPERM)
		return refuse_load(error);
	return fail(error, "the kernel refuses the BPF programs (6.18 to 7.3 are known to take "
			   "them; -v shows why)");
}

static bool prepare(struct prague_bpf *skel, const char *name, const struct programs *before)
{
	int tells = tells_of_tx_start();

	if (tells < 0)
		return fail(-tells, "the kernel's type information (BTF) cannot be read: take one "
				    "with CONFIG_DEBUG_INFO_BTF=y");
	if (tells) {
		skel->struct_ops.prague->cwnd_event = NULL;
		bpf_program__set_autoload(skel->progs.prague_event, false);
	} else {
		skel->struct_ops.prague->cwnd_event_tx_start = NULL;
		bpf_program__set_autoload(skel->progs.prague_tx_start, false);
	}
	set_name(skel, name);
	if (before && (bpf_map__reuse_fd(skel->maps.prague_config, before->config) ||
		       bpf_map__reuse_fd(skel->maps.prague_sockets, before->sockets) ||
		       bpf_map__reuse_fd(skel->maps.prague_classic, before->classic)))
		return fail(errno, "the maps of the version that is loaded do not fit: end it "
				   "with `tcp-prague off` first");
	return true;
}

/* Can the programs keep anything with a socket? Try it with one of ours: where kmalloc_nolock()
 * fails (bpf/has_timer.bpf.c), Linux 6.19 and later refuses it, and each connection would fall
 * back.
 */
static bool can_keep(int sockets)
{
	static const struct prague_socket nothing;
	int sk = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = sk < 0 || bpf_map_update_elem(sockets, &sk, &nothing, BPF_NOEXIST) ? errno : 0;
	struct utsname kernel;

	if (sk >= 0)
		close(sk);
	if (error != ENOMEM)
		return !error || refuse_programs(error);
	uname(&kernel);
	return fail(0,
		    "Linux %.80s gives BPF programs no memory to keep with a socket: free some, "
		    "and run it again (on riscv64 it never does from 6.19 on)",
		    kernel.release);
}

/* Its link, as a file descriptor, or -errno. In place of `before` it has the same link: new sockets
 * get the new programs, those that live keep theirs. libbpf has no function for a link that it has
 * not made; but it fills the map in before it finds the name taken.
 */
static int register_ops(struct prague_bpf *skel, const struct programs *before)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(skel->maps.prague);
	int fd;

	if (!link && errno == EEXIST && before)
		return bpf_link_update(before->registration, bpf_map__fd(skel->maps.prague), NULL)
			       ? -errno
			       : fd_of_our_own(before->registration);
	if (!link)
		return -errno;
	fd = fd_of_our_own(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

static bool refuse_strangers(const char *name)
{
	char why[BPFFS_WHY_MAX];

	return fail(EEXIST,
		    "%s is registered, but not pinned in " PRAGUE_PIN_DIR " as we see it: %s", name,
		    bpffs_remedy(why, "`tcp-prague off` where it was turned on (a container?), or "
				      "end what registered it"));
}

int prague_is_kernels(void)
{
	int has = kernel_has_congestion(PRAGUE_NAME);
	int is_bpf = has > 0 ? struct_ops_look(OPS, "name", PRAGUE_NAME) : 0;

	if (has <= 0)
		return has;
	return is_bpf < 0 ? is_bpf : !is_bpf;
}

static bool load(struct prague_bpf *skel, const char *name, const struct programs *before,
		 struct programs *programs)
{
	int fd;

	if (!prepare(skel, name, before))
		return false;
	if (prague_bpf__load(skel))
		return refuse_programs(errno);
	if (!can_keep(bpf_map__fd(skel->maps.prague_sockets)))
		return false;
	fd = register_ops(skel, before);
	if (fd == -EEXIST)
		return refuse_strangers(name);
	if (fd < 0)
		return refuse_programs(-fd);
	*programs = (struct programs){
		.registration = fd,
		.config = fd_of_our_own(bpf_map__fd(skel->maps.prague_config)),
		.sockets = fd_of_our_own(bpf_map__fd(skel->maps.prague_sockets)),
		.classic = fd_of_our_own(bpf_map__fd(skel->maps.prague_classic)),
		.ect1 = fd_of_our_own(bpf_program__fd(skel->progs.prague_ect1)),
		.status = fd_of_our_own(bpf_program__fd(skel->progs.prague_report)),
	};
	for (size_t i = 0; i < N_PINS; i++)
		if (*pin_fd(programs, &pins[i]) < 0)
			return fail(EMFILE, "cannot keep the BPF objects");
	return true;
}

bool programs_load(const char *name, const struct programs *before, struct programs *programs)
{
	struct prague_bpf *skel = prague_bpf__open();
	bool loaded;

	*programs = PROGRAMS_NONE;
	if (!skel)
		return fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
	loaded = load(skel, name, before, programs);
	prague_bpf__destroy(skel);
	if (!loaded)
		programs_close(programs);
	return loaded;
}

int programs_load_report(void)
{
	struct prague_bpf *skel = prague_bpf__open();
	struct bpf_program *program;
	struct bpf_map *map;
	int report = -1;

	if (!skel) {
		fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
		return -1;
	}
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, program == skel->progs.prague_report);
	bpf_object__for_each_map(map, skel->obj) bpf_map__set_autocreate(map, false);
	if (prague_bpf__load(skel))
		refuse_programs(errno);
	else
		report = fd_of_our_own(bpf_program__fd(skel->progs.prague_report));
	prague_bpf__destroy(skel);
	return report;
}

void programs_close(struct programs *programs)
{
	for (size_t i = 0; i < N_PINS; i++)
		if (*pin_fd(programs, &pins[i]) >= 0)
			close(*pin_fd(programs, &pins[i]));
	*programs = PROGRAMS_NONE;
}

/* ---- pins -------------------------------------------------------------------------- */

/* The layout of what is pinned, and the version of the tool that pinned it. */
#define VERSION_PIN "version"

struct version {
	__u32 abi;
	char tool[28];
};

static bool pin_version(void)
{
	struct version version = { .abi = PRAGUE_ABI };

	snprintf(version.tool, sizeof(version.tool), "%s", tool_version());
	return pin_value(PRAGUE_PINS, VERSION_PIN, &version, sizeof(version));
}

bool programs_pin(const struct programs *programs)
{
	programs_unpin();
	if (!pin_version())
		return false;
	/* The registration comes last: where it is, all others are. */
	for (size_t i = 0; i < N_PINS; i++)
		if (!pin_create(*pin_fd(programs, &pins[i]), PRAGUE_PINS, pins[i].name))
			return false;
	return true;
}

/* Only names go: the link is still wanted if a new version replaces this one. */
void programs_unpin(void)
{
	const char *name;
	DIR *rest;

	pin_forget(PRAGUE_PINS, REGISTRATION);
	rest = pins_list(PRAGUE_PINS);
	while ((name = pins_next(rest, "")))
		pin_forget(PRAGUE_PINS, name);
	pins_remove_directory(PRAGUE_PINS);
}

/* `error`, which is reported unless it is none, -ENOENT or -EPROTO. */
static int expect_pin(int error, const char *name)
{
	if (error < 0 && error != -ENOENT && error != -EPROTO)
		pin_refuse(error, PRAGUE_PINS, name);
	return error;
}

/* 0, or -errno, as above. The version first: another one has other pins. */
static int open_all(struct programs *programs)
{
	struct version version = {};
	int found, error = expect_pin(pin_read(PRAGUE_PINS, VERSION_PIN, &version, sizeof(version)),
				      VERSION_PIN);

	*programs = PROGRAMS_NONE;
	if (error || version.abi != PRAGUE_ABI)
		return error ?: -EPROTO;
	programs->is_current = !strncmp(version.tool, tool_version(), sizeof(version.tool));
	for (size_t i = 0; i < N_PINS; i++) {
		int fd = expect_pin(pin_open_as(PRAGUE_PINS, pins[i].name, &pins[i].shape),
				    pins[i].name);

		if (fd < 0)
			return fd;
		*pin_fd(programs, &pins[i]) = fd;
	}
	found = struct_ops_map_is(programs->registration, OPS_MAP);
	return found > 0 || found == -EPERM ? 0 : expect_pin(found ?: -EPROTO, REGISTRATION);
}

int programs_open(struct programs *programs)
{
	int error = open_all(programs);

	if (!error)
		return 1;
	programs_close(programs);
	if (error == -ENOENT) /* nothing, or what a run left that was killed */
		return 0;
	if (error != -EPROTO)
		return error;
	fail(0,
	     "another version of tcp-prague is at work: end it with its own `tcp-prague off`, or "
	     "`rm -r " PRAGUE_PIN_DIR "`");
	return -EBUSY;
}

/* ---- at work ----------------------------------------------------------------------- */

bool programs_configure(const struct programs *programs, const struct prague_config *config)
{
	__u32 zero = 0;

	return !bpf_map_update_elem(programs->config, &zero, config, BPF_ANY) ||
	       fail(errno, "the configuration cannot be written: %s", strerror(errno));
}

void programs_retire(const struct programs *programs)
{
	const struct prague_config retired = { .retire = 1 };

	bpf_link_detach(programs->registration);
	programs_configure(programs, &retired);
}

static int open_iterator(const struct programs *programs)
{
	union bpf_iter_link_info info = { .map.map_fd = (__u32)programs->sockets };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	int fd, link = bpf_link_create(programs->status, 0, BPF_TRACE_ITER, &opts);

	if (link < 0)
		return -errno;
	fd = bpf_iter_create(link);
	if (fd < 0)
		fd = -errno;
	close(link);
	return fd;
}

bool programs_each_socket(const struct programs *programs,
			  void (*visit)(const struct prague_report *socket, void *data), void *data)
{
	struct prague_report report;
	int fd = open_iterator(programs);
	FILE *sockets = fd < 0 ? NULL : fdopen(fd, "r");
	bool whole;

	if (!sockets)
		return expect_known(fd < 0 ? fd : -errno, "the sockets") >= 0;
	while (fread(&report, sizeof(report), 1, sockets) == 1)
		visit(&report, data);
	whole = !ferror(sockets);
	fclose(sockets);
	return whole || fail(EIO, "the list of sockets is incomplete: run it again");
}
