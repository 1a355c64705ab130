// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/registration.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/message.h"
#include "has_timer.skel.h"
#include "kernel/default_qdisc.h"
#include "kernel/inner_map.h"
#include "kernel/struct_ops.h"
#include "pinned/ledger.h"
#include "pinned/pins.h"

/* The members of struct registration with their pins, in order. */
struct pin {
	size_t offset;
	const char *name;
	bool is_public;
	struct object_shape shape;
};

static const struct pin pins[] = {
#define REGISTRATION_X(member, pin_name, is_public, ...) \
	{ offsetof(struct registration, member),         \
	  pin_name,                                      \
	  is_public,                                     \
	  { .name = pin_name, __VA_ARGS__ } },
	REGISTRATION_PINS(REGISTRATION_X)
#undef REGISTRATION_X
};

#define N_PINS (sizeof(pins) / sizeof(pins[0]))

static int *pin_fd(struct registration *reg, const struct pin *pin)
{
	return (int *)((char *)reg + pin->offset);
}

static bool has(const struct registration *reg, const struct pin *pin)
{
	switch (pin->offset) {
	case offsetof(struct registration, values):
		return reg->aqm->has_values;
	case offsetof(struct registration, host_sets):
	case offsetof(struct registration, host_dualqs):
		return reg->aqm->variant == AQM_HOSTS;
	case offsetof(struct registration, prefixes):
	case offsetof(struct registration, generations):
	case offsetof(struct registration, plans):
	case offsetof(struct registration, names):
	case offsetof(struct registration, parents):
	case offsetof(struct registration, plan_dualqs):
		return reg->aqm->variant == AQM_SUBSCRIBERS;
	}
	return true;
}

static void init(struct registration *reg, const struct aqm *aqm)
{
	reg->aqm = aqm;
	for (size_t i = 0; i < N_PINS; i++)
		*pin_fd(reg, &pins[i]) = -1;
	reg->types = -1;
}

static void close_all(struct registration *reg)
{
	for (size_t i = 0; i < N_PINS; i++) {
		if (*pin_fd(reg, &pins[i]) >= 0)
			close(*pin_fd(reg, &pins[i]));
	}
	if (reg->types >= 0)
		close(reg->types);
	init(reg, reg->aqm);
}

bool registration_is_open(const struct registration *reg)
{
	return reg->stats >= 0;
}

int registration_is_current(const struct registration *reg)
{
	static const struct object_shape array = { .type = BPF_MAP_TYPE_ARRAY };
	const char *dir = reg->aqm->name, *name = "dualpi2_events";
	int pinned = pins_are_hidden() ? pin_open_public(dir, name, &array) : pin_open(dir, name);
	__u32 id;

	if (pinned == -ENOENT)
		return !registration_is_open(reg);
	if (pinned < 0)
		return pinned;
	id = object_id(pinned);
	close(pinned);
	if (!id)
		return -errno;
	return registration_is_open(reg) && object_id(reg->events) == id;
}

static bool refuse_version(struct registration *reg)
{
	close_all(reg);
	return fail(0, PINS_OTHER_VERSION);
}

/* Is what is open now of this version, and the link that of our struct_ops, if we may see it: 1, 0,
 * or -errno. A map that is not there is of another version, too.
 */
static int is_this_version(const struct registration *reg)
{
	const __s64 ops = reg->link < 0 ? 0 : struct_ops_map(reg->link);
	__u32 zero = 0, abi;

	if (reg->abi < 0 || reg->stats < 0 || reg->delays < 0)
		return 0;
	if (bpf_map_lookup_elem(reg->abi, &zero, &abi))
		return -errno;
	if (ops < 0)
		return (int)ops;
	return abi == DUALPI2_ABI && (!ops || ops == object_id(reg->ops));
}

/* If it is not, nothing is open afterwards. */
static bool check_version(struct registration *reg)
{
	int found = is_this_version(reg);

	if (!found)
		return refuse_version(reg);
	if (found < 0)
		close_all(reg);
	return expect_known(found, "the maps of %s", reg->aqm->kind) > 0;
}

/* Open what is pinned, or (`is_public`) what everybody may read of it. */
static bool open_pins(struct registration *reg, bool is_public)
{
	const char *dir = reg->aqm->name;

	if (!is_public && !pin_exists(dir, "registration"))
		return true;
	for (size_t i = 0; i < N_PINS; i++) {
		const struct pin *pin = &pins[i];
		int fd;

		if (!has(reg, pin) || (is_public && !pin->is_public))
			continue;
		fd = is_public ? pin_open_public(dir, pin->name, &pin->shape)
			       : pin_open_as(dir, pin->name, &pin->shape);
		*pin_fd(reg, pin) = fd;
		if (fd == -EPROTO)
			return refuse_version(reg);
		/* Without the lock we may meet an --unload at work. */
		if (fd == -ENOENT && (is_public || !pin_exists(dir, "registration"))) {
			close_all(reg);
			return true;
		}
		if (fd < 0 && fd != -ENOENT) {
			close_all(reg);
			return is_public ? pin_refuse_public(fd, dir)
					 : pin_refuse(fd, dir, pin->name);
		}
	}
	if (!check_version(reg))
		return false;
	if (aqm_has_many(reg->aqm) && !is_public)
		reg->types = map_types(reg->qdiscs);
	return true;
}

static bool open_each(struct registrations *regs, bool is_public)
{
	for (regs->count = 0; aqms[regs->count]; regs->count++) {
		struct registration *reg = &regs->of[regs->count];

		init(reg, aqms[regs->count]);
		if (!open_pins(reg, is_public)) {
			registrations_close(regs);
			return false;
		}
	}
	return true;
}

bool registrations_need_types(void)
{
	for (size_t i = 0; aqms[i]; i++) {
		if (aqm_has_many(aqms[i]) && pin_exists(aqms[i]->name, "registration") > 0)
			return true;
	}
	return false;
}

bool registrations_open(struct registrations *regs)
{
	regs->count = 0;
	/* Earlier versions had no directories. */
	if (pin_exists("", "registration") > 0)
		return fail(0, PINS_OTHER_VERSION);
	if (open_each(regs, false) && ledger_open())
		return true;
	registrations_close(regs);
	return false;
}

bool registrations_open_public(struct registrations *regs)
{
	return open_each(regs, true);
}

void registrations_close(struct registrations *regs)
{
	for (size_t i = 0; i < regs->count; i++)
		close_all(&regs->of[i]);
}

bool registrations_found(const struct registrations *regs)
{
	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]))
			return true;
	}
	return false;
}

struct registration *registration_of(const struct registrations *regs, const struct aqm *aqm)
{
	size_t i = 0;

	while (regs->of[i].aqm != aqm)
		i++;
	return (struct registration *)&regs->of[i];
}

/* The registration goes first: without it the others are remains, for anyone to
 * clear away.
 */
static void remove_pins(const struct aqm *aqm)
{
	pin_remove(aqm->name, "registration");
	pins_unpublish(aqm->name);
	pins_remove_all(aqm->name);
}

void registration_remove(struct registration *reg)
{
	remove_pins(reg->aqm);
	close_all(reg);
}

const struct aqm *registrations_remove_unused(struct registrations *regs)
{
	const struct aqm *unknown = NULL;

	for (size_t i = 0; i < regs->count; i++) {
		struct registration *reg = &regs->of[i];
		int in_use = registration_is_open(reg) ? registration_in_use(reg) : 0;

		if (in_use < 0)
			unknown = reg->aqm;
		if (!in_use)
			registration_remove(reg);
	}
	if (!registrations_found(regs)) {
		ledger_remove_if_empty();
		pins_remove_directory("");
	}
	return unknown;
}

int registration_elsewhere(const struct aqm *aqm)
{
	int pinned = pin_exists(aqm->name, "registration");

	return pinned ? (pinned < 0 ? pinned : 0) : struct_ops_look("Qdisc_ops", "id", aqm->kind);
}

const char *registration_remedy(char *text)
{
	return bpffs_remedy(text, "unload it where it was loaded (a container?), or reboot");
}

/* The map or program of an object by its name, or -1. */
static int fd_of(const struct bpf_object *object, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	const struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	return map ? bpf_map__fd(map) : program ? bpf_program__fd(program) : -1;
}

static bool create_abi(struct registration *reg)
{
	__u32 zero = 0, abi = DUALPI2_ABI;

	reg->abi = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dualpi2_abi", sizeof(zero), sizeof(abi), 1,
				  NULL);
	return (reg->abi >= 0 && !bpf_map_update_elem(reg->abi, &zero, &abi, BPF_ANY)) ||
	       fail(errno, "the kernel refuses to create a BPF map: %s", strerror(errno));
}

/* Has this machine timers of BPF programs: 1; 0: the kernel cannot make one; -errno: it does not
 * take the program that tries.
 */
static int has_timers(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct has_timer_bpf *skel = has_timer_bpf__open_and_load();
	int error = skel ? bpf_prog_test_run_opts(bpf_program__fd(skel->progs.has_timer), &opts)
			 : -errno;

	has_timer_bpf__destroy(skel);
	return error ? error : !opts.retval;
}

/* Tell the programs what this machine has. */
static int set_up(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, DUALPI2_WITHOUT_TIMER);
	int has_timer = has_timers();
	bool without_timer;

	if (has_timer < 0)
		return has_timer;
	without_timer = !has_timer;
	return bpf_map__set_initial_value(map, &without_timer, sizeof(without_timer));
}

static bool load(struct bpf_object *object, struct registration *reg, bool (*refused)(int error))
{
	int error = set_up(object);
	char remedy[BPFFS_WHY_MAX];
	struct bpf_link *link;

	if (error)
		return refused(-error);
	if (bpf_map__set_pin_path(bpf_object__find_map_by_name(object, LEDGER_DEVICES_MAP),
				  LEDGER_DEVICES_PATH) ||
	    bpf_object__load(object))
		return refused(errno);
	if (!ledger_open() || !ledger_make())
		return false;
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, REGISTRATION_OPS));
	if (!link && errno == EEXIST)
		return fail(errno, "%s " REGISTRATION_ELSEWHERE ": %s", reg->aqm->kind,
			    registration_remedy(remedy));
	if (!link)
		return fail(errno, "the kernel refuses to register the qdisc (-v shows why)");

	reg->link = fd_of_our_own(bpf_link__fd(link));
	bpf_link__destroy(link);
	if (aqm_has_many(reg->aqm))
		reg->types = fd_of_our_own(bpf_object__btf_fd(object));
	if (!create_abi(reg))
		return false;
	for (size_t i = 0; i < N_PINS; i++) {
		int *fd = pin_fd(reg, &pins[i]);

		if (!has(reg, &pins[i]))
			continue;
		if (*fd < 0)
			*fd = fd_of_our_own(fd_of(object, pins[i].name));
		if (*fd < 0)
			return fail(EMFILE, "cannot keep the BPF objects");
	}
	return true;
}

static bool pin_all(struct registration *reg)
{
	for (size_t i = 0; i < N_PINS; i++) {
		const char *dir = reg->aqm->name, *name = pins[i].name;
		int fd = *pin_fd(reg, &pins[i]);

		if (!has(reg, &pins[i]))
			continue;
		if ((pins[i].is_public && !pin_publish(fd, dir, name)) ||
		    !pin_create(fd, dir, name))
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

	remove_pins(reg->aqm);
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

int registration_lives(const struct registration *reg, const struct dualpi2_key *interface)
{
	struct dualpi2_key key, *previous = NULL;
	int lives = 0;

	while (lives < DUALPI2_MAX_INSTANCES) {
		if (bpf_map_get_next_key(reg->live, previous, &key))
			return errno == ENOENT ? lives : -errno;
		lives += !interface ||
			 (key.netns == interface->netns && key.ifindex == interface->ifindex);
		previous = &key;
	}
	return lives;
}

int registration_in_use(const struct registration *reg)
{
	/* Unless the kernel says that none lives, one may. */
	if (registration_lives(reg, NULL))
		return 1;
	/* The kernel would go on attaching it, without our maps. */
	return default_qdisc_is(reg->aqm->kind);
}
