// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/tcx.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "kernel/object_shape.h"
#include "pinned/ledger.h"
#include "pinned/maps.h"
#include "pinned/pins.h"

#define PROGRAM_MAPS_MAX 64 /* MAX_USED_MAPS, include/linux/bpf_verifier.h */

/* The name of a pin for an interface: PREFIX-NETNS-IFINDEX. */
#define TCX_NAME_MAX 48

struct tcx_place {
	const char *prefix, *program_name;
	enum bpf_attach_type type;
	__u32 flags;	/* BPF_F_BEFORE: in front of all others; 0: behind them */
	size_t program; /* member of struct registration */
};

static const struct tcx_place tcx_places[] = {
	[TCX_EGRESS] = { "tcx-", "dualpi2_mark", BPF_TCX_EGRESS, 0,
			 offsetof(struct registration, mark) },
	[TCX_INGRESS] = { "ingress-", "dualpi2_ingress", BPF_TCX_INGRESS, 0,
			  offsetof(struct registration, ingress) },
	[TCX_SPLIT] = { "split-", "dualpi2_split", BPF_TCX_EGRESS, BPF_F_BEFORE,
			offsetof(struct registration, split) },
};

#define N_PLACES (sizeof(tcx_places) / sizeof(tcx_places[0]))

static const char *tcx_name(const struct dualpi2_key *key, enum tcx_hook hook,
			    char name[TCX_NAME_MAX])
{
	snprintf(name, TCX_NAME_MAX, "%s%llu-%u", tcx_places[hook].prefix, key->netns,
		 key->ifindex);
	return name;
}

/* The other way round. */
static bool read_tcx_name(const char *name, enum tcx_hook hook, struct dualpi2_key *key)
{
	*key = (struct dualpi2_key){};
	return sscanf(name + strlen(tcx_places[hook].prefix), "%llu-%u", &key->netns,
		      &key->ifindex) == 2;
}

static int tcx_program(const struct registration *reg, enum tcx_hook hook)
{
	return *(const int *)((const char *)reg + tcx_places[hook].program);
}

/* As tcx_link_is_on(). Without the right to ask its number has to do. */
static int is_on(const struct bpf_link_info *info, __u32 ifindex, enum tcx_hook hook)
{
	int found = tcx_link_is_on(info, ifindex, tcx_places[hook].type);

	return found == -EPERM ? 1 : found;
}

int tcx_attached(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook)
{
	struct bpf_link_info info;
	char name[TCX_NAME_MAX];
	int state = tcx_link_look(reg->aqm->name, tcx_name(key, hook, name), &info);
	__u32 program;

	if (state > 0)
		state = is_on(&info, key->ifindex, hook);
	if (state <= 0)
		return state;
	program = object_id(tcx_program(reg, hook));
	return program ? info.prog_id == program : -errno;
}

static int expect_programs(int found)
{
	return expect_known(found, "the tcx programs of the interface");
}

int tcx_look(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook)
{
	int found = tcx_attached(reg, key, hook);
	char name[TCX_NAME_MAX];

	if (found != -EISDIR && found != -EPROTO && found != -EUCLEAN)
		return expect_programs(found);
	pin_refuse(found, reg->aqm->name, tcx_name(key, hook, name));
	return found;
}

int interface_is_gone(const struct registrations *regs, const struct dualpi2_key *key,
		      enum tcx_hook hook)
{
	struct bpf_link_info info;
	char name[TCX_NAME_MAX];
	struct link link;
	int state;

	if (key->netns != netns_current())
		return netns_is_gone(regs, key->netns);
	state = link_look((int)key->ifindex, &link);
	if (state <= 0)
		return state ? state : 1;
	tcx_name(key, hook, name);
	state = 0;
	for (size_t i = 0; !state && i < regs->count; i++)
		state = tcx_link_look(regs->of[i].aqm->name, name, &info);
	if (state <= 0)
		return state;
	state = is_on(&info, key->ifindex, hook);
	return state < 0 ? state : !state;
}

int tcx_has_others_before(const struct registration *reg, const struct dualpi2_key *key)
{
	const __u32 mark = object_id(reg->mark), split = object_id(reg->split);
	__u32 ids[TCX_PROGRAMS_MAX];
	LIBBPF_OPTS(bpf_prog_query_opts, opts, .prog_ids = ids, .count = TCX_PROGRAMS_MAX);
	int error;

	if (!mark || !split)
		return expect_programs(-errno);
	error = bpf_prog_query_opts((int)key->ifindex, BPF_TCX_EGRESS, &opts);
	if (error)
		return expect_programs(error);
	for (__u32 i = 0; i < opts.count && ids[i] != mark; i++)
		if (ids[i] != split)
			return 1;
	return 0;
}

static bool is_registered(const struct registrations *regs, __u32 program)
{
	for (size_t i = 0; i < regs->count; i++) {
		for (size_t hook = 0; hook < N_PLACES; hook++) {
			const int fd = tcx_program(&regs->of[i], hook);

			if (fd >= 0 && object_id(fd) == program)
				return true;
		}
	}
	return false;
}

/* Is one of these maps our map of devices, of any version: 1, 0, or -errno. */
static int has_devices(const __u32 *maps, __u32 count)
{
	static const struct object_shape devices = {
		.name = LEDGER_DEVICES_MAP,
		.type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(struct dualpi2_key),
	};
	int found = 0;

	for (__u32 i = 0; !found && i < count; i++) {
		int map = bpf_map_get_fd_by_id(maps[i]);

		found = map < 0 ? map : object_has_shape(map, &devices);
		if (map >= 0)
			close(map);
	}
	return found;
}

static bool has_our_name(const struct bpf_prog_info *info)
{
	bool found = false;

	for (size_t hook = 0; hook < N_PLACES; hook++)
		found |= !strcmp(info->name, tcx_places[hook].program_name);
	return found;
}

/* Does it look like one of our programs: 1, 0, or -errno. Somebody else's may have the name, but
 * hardly the map that all of ours use.
 */
static int is_like_ours(__u32 program)
{
	__u32 maps[PROGRAM_MAPS_MAX];
	struct bpf_prog_info info = {
		.map_ids = (__u64)(unsigned long)maps,
		.nr_map_ids = PROGRAM_MAPS_MAX,
	};
	__u32 len = sizeof(info);
	int found, fd = bpf_prog_get_fd_by_id(program);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it has just gone */
	found = bpf_prog_get_info_by_fd(fd, &info, &len) ? -errno : has_our_name(&info);
	if (found > 0)
		found = has_devices(maps, MIN(info.nr_map_ids, PROGRAM_MAPS_MAX));
	close(fd);
	return found;
}

/* 0, or -errno. */
static int add_ours(int ifindex, enum bpf_attach_type type, struct tcx_ours *ours)
{
	__u32 ids[TCX_PROGRAMS_MAX];
	LIBBPF_OPTS(bpf_prog_query_opts, opts, .prog_ids = ids, .count = TCX_PROGRAMS_MAX);

	int found = bpf_prog_query_opts(ifindex, type, &opts);

	for (__u32 i = 0; found >= 0 && i < opts.count; i++) {
		found = is_like_ours(ids[i]);
		if (found > 0)
			ours->ids[ours->count++] = ids[i];
	}
	return found < 0 ? found : 0;
}

bool tcx_look_for_ours(const char *ifname, struct tcx_ours *ours)
{
	struct link link;
	int found = link_look_for(ifname, &link);

	ours->count = 0;
	if (found <= 0)
		return !found;
	found = add_ours(link.ifindex, BPF_TCX_EGRESS, ours)
			?: add_ours(link.ifindex, BPF_TCX_INGRESS, ours);
	return found == -EPERM || found == -EINVAL || expect_programs(found) >= 0;
}

__u32 tcx_stray(const struct registrations *regs, const struct tcx_ours *ours)
{
	for (size_t i = 0; i < ours->count; i++) {
		if (!is_registered(regs, ours->ids[i]))
			return ours->ids[i];
	}
	return 0;
}

/* As tcx_detach(), of one AQM. */
static int detach_one(const struct aqm *aqm, const struct dualpi2_key *key, enum tcx_hook hook)
{
	char name[TCX_NAME_MAX];
	int exists = pin_exists(aqm->name, tcx_name(key, hook, name));

	if (expect_known(exists, PIN_DIR "/%s/%s", aqm->name, name) > 0)
		pin_remove(aqm->name, name);
	return exists;
}

/* The interface has the program already, but not from here: it came from another network namespace,
 * where its qdisc ended. Its link is of no more use.
 */
static void release_moved(const struct registration *reg, const struct dualpi2_key *key,
			  enum tcx_hook hook)
{
	DIR *pins = pins_list(reg->aqm->name);
	struct bpf_link_info info;
	struct dualpi2_key former;
	const char *name;

	while ((name = pins_next(pins, tcx_places[hook].prefix))) {
		if (!read_tcx_name(name, hook, &former) ||
		    tcx_link_look(reg->aqm->name, name, &info) <= 0 ||
		    is_on(&info, key->ifindex, hook) <= 0 ||
		    info.prog_id != object_id(tcx_program(reg, hook)))
			continue;
		verbose("%s: that interface is here now", name);
		detach_one(reg->aqm, &former, hook);
	}
}

static int create_link(const struct registration *reg, const struct dualpi2_key *key,
		       enum tcx_hook hook)
{
	return tcx_link_create(tcx_program(reg, hook), (int)key->ifindex, tcx_places[hook].type,
			       tcx_places[hook].flags);
}

/* Of all AQMs but one (NULL: of all). */
static int detach_all_but(const struct aqm *one, const struct dualpi2_key *key, enum tcx_hook hook)
{
	int detached = 0;

	for (size_t i = 0; aqms[i] && detached >= 0; i++) {
		int state = aqms[i] == one ? 0 : detach_one(aqms[i], key, hook);

		if (state)
			detached = state;
	}
	return detached;
}

int tcx_detach(const struct dualpi2_key *key, enum tcx_hook hook)
{
	return detach_all_but(NULL, key, hook);
}

static const char *name_of(const struct dualpi2_key *key, struct link *link)
{
	return link_look((int)key->ifindex, link) > 0 ? link->name : "the interface";
}

bool tcx_attach(const struct registration *reg, const struct dualpi2_key *key, enum tcx_hook hook)
{
	char name[TCX_NAME_MAX];
	struct link link;
	int fd;

	detach_one(reg->aqm, key, hook); /* a dead one, or one of an older registration */
	fd = create_link(reg, key, hook);
	if (fd == -EEXIST) {
		release_moved(reg, key, hook);
		fd = create_link(reg, key, hook);
	}
	if (fd == -EEXIST)
		return fail(-fd,
			    "our tcx program is on the interface, but not from here: run "
			    "`dualpi2-load IFACE --unload` in the network namespace it was in");
	if (fd < 0)
		return tcx_link_refuse(-fd, name_of(key, &link));
	return pin_link(fd, reg->aqm->name, tcx_name(key, hook, name)) &&
	       detach_all_but(reg->aqm, key, hook) >= 0;
}

void tcx_each(const struct registrations *regs,
	      void (*visit)(const struct registrations *regs, const struct dualpi2_key *key))
{
	for (size_t i = 0; i < regs->count; i++) {
		DIR *pins = pins_list(regs->of[i].aqm->name);
		struct dualpi2_key key;
		const char *name;

		while ((name = pins_next(pins, tcx_places[TCX_EGRESS].prefix))) {
			if (read_tcx_name(name, TCX_EGRESS, &key))
				visit(regs, &key);
		}
	}
}
