// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/registration.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/default_qdisc.h"
#include "pinned/pins.h"

/* The members of struct registration with their pins, in order. */
struct pin {
	size_t offset;
	const char *name;
};

static const struct pin pins[] = {
#define REGISTRATION_X(member, name) { offsetof(struct registration, member), name },
	REGISTRATION_PINS(REGISTRATION_X)
#undef REGISTRATION_X
};

static const struct pin public_pins[] = {
#define REGISTRATION_X(member, name) { offsetof(struct registration, member), name },
	REGISTRATION_PUBLIC_PINS(REGISTRATION_X)
#undef REGISTRATION_X
};

#define N_PINS (sizeof(pins) / sizeof(pins[0]))
#define N_PUBLIC_PINS (sizeof(public_pins) / sizeof(public_pins[0]))

#define OPS_MAP "dualpi2" /* the struct_ops that is the qdisc */

static int *pin_fd(struct registration *reg, const struct pin *pin)
{
	return (int *)((char *)reg + pin->offset);
}

static void registration_init(struct registration *reg)
{
	reg->aqm = aqms[0];
	for (size_t i = 0; i < N_PINS; i++)
		*pin_fd(reg, &pins[i]) = -1;
}

void registration_close(struct registration *reg)
{
	for (size_t i = 0; i < N_PINS; i++) {
		if (*pin_fd(reg, &pins[i]) >= 0)
			close(*pin_fd(reg, &pins[i]));
	}
	registration_init(reg);
}

/* This, as the two that follow: 1, 0, or -errno: unknown. */
static int value_size_is(int map_fd, __u32 size)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(map_fd, &info, &len))
		return -errno;
	return info.value_size == size;
}

/* Do the maps mean what this program thinks they mean? */
static int is_readable(const struct registration *reg)
{
	__u32 zero = 0, abi = 0;
	int sized;

	if (reg->abi < 0 || bpf_map_lookup_elem(reg->abi, &zero, &abi))
		return reg->abi < 0 ? reg->abi : -errno;
	if (abi != DUALPI2_ABI)
		return 0;
	sized = value_size_is(reg->stats, sizeof(struct dualpi2_stats));
	return sized > 0 ? value_size_is(reg->delays, sizeof(struct dualpi2_delays)) : sized;
}

static int is_compatible(const struct registration *reg)
{
	int fits = is_readable(reg);

	if (fits > 0)
		fits = value_size_is(reg->conf, sizeof(struct dualpi2_params));
	if (fits > 0)
		fits = value_size_is(reg->prior, sizeof(struct prior_qdisc));
	return fits > 0 ? value_size_is(reg->settings, sizeof(struct prior_settings)) : fits;
}

/* After one of these. A map that is not there is of another version, too. */
static bool accept(struct registration *reg, int fits, bool *found)
{
	const int error = fits == -EBADF || fits == -ENOENT ? 0 : -fits;

	*found = fits > 0;
	if (*found)
		return true;
	registration_close(reg);
	if (error)
		return fail(error, "cannot look at the maps of bpf_dualpi2: %s; run it again",
			    strerror(error));
	return fail(0, "another version of bpf_dualpi2 is loaded: unload it from all "
		       "interfaces with its own dualpi2-load --unload, or "
		       "`rm -r " PIN_DIR "`");
}

bool registration_open(struct registration *reg, bool *found)
{
	registration_init(reg);
	*found = false;
	reg->link = pin_open("registration");
	if (reg->link == -ENOENT)
		return true;
	for (size_t i = 0; i < N_PINS; i++) {
		int *fd = pin_fd(reg, &pins[i]);

		if (*fd < 0)
			*fd = pin_open(pins[i].name);
		if (*fd < 0 && *fd != -ENOENT) {
			int error = -*fd;

			registration_close(reg);
			return fail(error,
				    PIN_DIR "/%s: cannot be opened: run it %s, with " BPFFS
					    " writable",
				    pins[i].name, privilege_as_root());
		}
	}
	return accept(reg, is_compatible(reg), found);
}

bool registration_open_public(struct registration *reg, bool *found)
{
	registration_init(reg);
	*found = false;
	for (size_t i = 0; i < N_PUBLIC_PINS; i++) {
		int *fd = pin_fd(reg, &public_pins[i]);
		int error;

		*fd = pin_open_public(public_pins[i].name);
		if (*fd >= 0)
			continue;
		error = -*fd;
		registration_close(reg);
		return error == ENOENT ||
		       fail(error,
			    PUBLIC_PIN_DIR ": cannot be read: run it %s, or let everybody look: "
					   "`chmod 711 " BPFFS "`",
			    privilege_as_root());
	}
	return accept(reg, is_readable(reg), found);
}

static void remove_pin(const char *name, void *data)
{
	int fd = pin_open(name);

	(void)data;
	pin_remove(name);
	if (fd < 0)
		return;
	/* A link ends now, not some time after its last reference is gone. Maps and
	 * programs refuse this, which is fine.
	 */
	bpf_link_detach(fd);
	close(fd);
}

/* The registration goes first: without it the others are remains, for anyone to
 * clear away.
 */
static void remove_pins(void)
{
	remove_pin("registration", NULL);
	pins_unpublish();
	pins_each("", remove_pin, NULL);
}

void registration_remove(struct registration *reg)
{
	remove_pins();
	registration_close(reg);
	pins_remove_directory();
}

/* A file descriptor of our own for what an object has, which is to be closed; -1: it could not be
 * had.
 */
static int own(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The map or program of an object by its name, or -1. */
static int fd_of(const struct bpf_object *object, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	const struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	return map ? bpf_map__fd(map) : program ? bpf_program__fd(program) : -1;
}

static bool all_are_open(const struct registration *reg)
{
	for (size_t i = 0; i < N_PINS; i++) {
		if (*pin_fd((struct registration *)reg, &pins[i]) < 0)
			return false;
	}
	return true;
}

/* A map of values by interface that no BPF program uses. */
static int create_interface_map(const char *name, __u32 value_size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, name, sizeof(struct dualpi2_key), value_size,
			      DUALPI2_MAX_INSTANCES, &opts);
}

static bool create_tool_maps(struct registration *reg)
{
	__u32 zero = 0, abi = DUALPI2_ABI;

	reg->abi = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dualpi2_abi", sizeof(zero), sizeof(abi), 1,
				  NULL);
	reg->prior = create_interface_map("dualpi2_prior", sizeof(struct prior_qdisc));
	reg->settings = create_interface_map("dualpi2_setting", sizeof(struct prior_settings));
	if (reg->abi < 0 || reg->prior < 0 || reg->settings < 0 ||
	    bpf_map_update_elem(reg->abi, &zero, &abi, BPF_ANY))
		return fail(errno, "the kernel refuses to create a BPF map: free some memory");
	return true;
}

static bool load(struct bpf_object *object, struct registration *reg, bool (*refused)(int error))
{
	struct bpf_link *link;

	if (bpf_object__load(object))
		return refused(errno);
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, OPS_MAP));
	if (!link && errno == EEXIST)
		return fail(errno,
			    "%s is registered, but not pinned in " PIN_DIR
			    ": unload it where it was loaded (a container?), or reboot",
			    reg->aqm->kind);
	if (!link)
		return fail(errno, "the kernel refuses to register the qdisc (-v shows why)");

	reg->link = own(bpf_link__fd(link));
	bpf_link__destroy(link);
	for (size_t i = 0; i < N_PINS; i++) {
		int *fd = pin_fd(reg, &pins[i]);

		if (*fd < 0)
			*fd = own(fd_of(object, pins[i].name));
	}
	return create_tool_maps(reg) &&
	       (all_are_open(reg) || fail(EMFILE, "cannot keep the BPF objects"));
}

static bool pin_all(struct registration *reg)
{
	for (size_t i = 0; i < N_PUBLIC_PINS; i++) {
		if (!pin_publish(*pin_fd(reg, &public_pins[i]), public_pins[i].name))
			return false;
	}
	for (size_t i = 0; i < N_PINS; i++) {
		if (!pin_create(*pin_fd(reg, &pins[i]), pins[i].name))
			return false;
	}
	return true;
}

bool registration_make(struct registration *reg, bool (*refused)(int error))
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "dualpi2");
	struct bpf_object *object;
	const void *elf;
	size_t size;
	bool made;

	registration_init(reg);
	remove_pins();
	elf = reg->aqm->object(&size);
	object = bpf_object__open_mem(elf, size, &opts);
	if (!object)
		return fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
	made = load(object, reg, refused) && pin_all(reg);
	bpf_object__close(object);
	if (!made)
		registration_remove(reg);
	return made;
}

/* Unless the kernel says that it has none, a map may have entries. */
static bool may_have_entries(int map)
{
	struct dualpi2_key key;

	return map >= 0 && (!bpf_map_get_next_key(map, NULL, &key) || errno != ENOENT);
}

int registration_in_use(const struct registration *reg)
{
	if (may_have_entries(reg->live) || may_have_entries(reg->devices))
		return 1;
	return default_qdisc_is_ours(); /* the kernel would go on attaching it, without our maps */
}

size_t registration_room(const struct registration *reg)
{
	struct dualpi2_key key, *previous = NULL;
	size_t room = DUALPI2_MAX_INSTANCES;

	while (room && !bpf_map_get_next_key(reg->live, previous, &key)) {
		previous = &key;
		room--;
	}
	return room;
}
