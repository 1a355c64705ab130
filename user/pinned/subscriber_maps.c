// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/subscriber_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/inner_map.h"
#include "pinned/by_qdisc.h"
#include "pinned/ledger.h"
#include "pinned/pins.h"
#include "subscribers.h"
#include "subscribers/list.h"

static const struct by_qdisc by_subscriber = {
	.variant = AQM_SUBSCRIBERS,
	.first = offsetof(struct registration, names),
	.whose = "subscribers",
	.option = "--subscribers",
	.fewer = "free some, or give fewer",
};

/* Each kind of them: where it stands, and of those that are pinned the name. */
#define MAPS_X(X)                                                                 \
	X(names, "names-", .type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(__u32), \
	  .value_size = sizeof(struct subscriber_name))                           \
	X(plans, "plans-", .type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(__u32), \
	  .value_size = sizeof(struct plan))                                      \
	X(prefixes, "prefixes-", .type = BPF_MAP_TYPE_LPM_TRIE,                   \
	  .key_size = sizeof(struct ip_prefix), .value_size = sizeof(__u32))      \
	X(plan_dualqs, "dualqs-", .type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(__u32))

static const struct pinned_map {
	size_t outer, inner; /* in struct registration, and in struct subscriber_maps */
	const char *prefix;
	struct object_shape shape;
} pinned_maps[] = {
#define MAP_ROW(member, prefix_, ...)               \
	{ offsetof(struct registration, member),    \
	  offsetof(struct subscriber_maps, member), \
	  prefix_,                                  \
	  { __VA_ARGS__ } },
	MAPS_X(MAP_ROW)
#undef MAP_ROW
};

#define PINNED_FOR(each)                                  \
	for (const struct pinned_map *each = pinned_maps; \
	     each < pinned_maps + sizeof(pinned_maps) / sizeof(pinned_maps[0]); each++)

static int outer_of(const struct registration *reg, const struct pinned_map *map)
{
	return *(const int *)((const char *)reg + map->outer);
}

static int *inner_of(const struct subscriber_maps *maps, const struct pinned_map *map)
{
	return (int *)((char *)maps + map->inner);
}

/* ---- make ------------------------------------------------------------------------ */

static int make_trie(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	const int map =
		bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "dualpi2_prefix", sizeof(struct ip_prefix),
			       sizeof(__u32), PREFIXES_IN_FORCE_MAX, &opts);

	return map < 0 ? -errno : map;
}

static int make_array(const char *name, size_t value_size, __u32 length)
{
	const struct inner_value value = { .types = -1, .size = (__u32)value_size };

	return inner_map_make(name, &value, length);
}

bool subscriber_maps_make(const struct registration *reg, __u32 room, struct subscriber_maps *maps)
{
	const __u32 length = room + 1; /* number 0 is nobody's */
	const size_t each =
		sizeof(struct plan) + sizeof(struct subscriber_name) + SUBSCRIBERS_PARENT_SIZE;
	int error;

	*maps = SUBSCRIBER_MAPS_NONE;
	maps->room = room;
	maps->plan_dualqs = by_qdisc_make_dualqs(&by_subscriber, reg, "dualpi2_dualqs", length);
	if (maps->plan_dualqs < 0)
		return false;
	maps->prefixes = make_trie();
	maps->plans = make_array("dualpi2_plan", sizeof(struct plan), length);
	maps->names = make_array("dualpi2_name", sizeof(struct subscriber_name), length);
	maps->parents = make_array("dualpi2_parent", SUBSCRIBERS_PARENT_SIZE, length);
	error = maps->prefixes < 0  ? maps->prefixes
		: maps->plans < 0   ? maps->plans
		: maps->names < 0   ? maps->names
		: maps->parents < 0 ? maps->parents
				    : 0;
	return !error || by_qdisc_refuse(&by_subscriber, error, room, (__u64)length * each);
}

void subscriber_maps_close(struct subscriber_maps *maps)
{
	PINNED_FOR(map)
		by_qdisc_close(*inner_of(maps, map));
	by_qdisc_close(maps->parents);
	*maps = SUBSCRIBER_MAPS_NONE;
}

/* ---- put in -------------------------------------------------------------------------- */

/* In the place of one that has the name, which is an earlier qdisc's. */
static bool pin(const struct registration *reg, const struct pinned_map *map, __u32 qdisc, int fd)
{
	char name[PIN_NAME_MAX];

	pin_numbered(map->prefix, qdisc, name);
	return pin_forget(reg->aqm->name, name) && pin_create(fd, reg->aqm->name, name);
}

bool subscriber_maps_put(const struct registration *reg, const struct dualpi2_key *key,
			 const struct subscriber_maps *maps)
{
	__u32 qdisc;
	int error = by_qdisc_number(reg, key, &qdisc);

	if (error <= 0)
		return !error && by_qdisc_gone();
	error = 0;
	/* Who finds a pin without its map, or with another one, makes all of them again. */
	PINNED_FOR(map) {
		if (!error)
			error = by_qdisc_put(outer_of(reg, map), qdisc, *inner_of(maps, map),
					     false);
	}
	error = error ?: by_qdisc_put(reg->parents, qdisc, maps->parents, false);
	if (error)
		return by_qdisc_refuse_place(&by_subscriber, error);
	PINNED_FOR(map) {
		if (!pin(reg, map, qdisc, *inner_of(maps, map)))
			return false;
	}
	return true;
}

/* ---- open ------------------------------------------------------------------------ */

/* Open what is pinned, if it is what stands in its place: 1, 0, or -errno. */
static int open_one(const struct registration *reg, const struct pinned_map *map, __u32 qdisc,
		    int *fd)
{
	char name[PIN_NAME_MAX];
	__u32 id;

	pin_numbered(map->prefix, qdisc, name);
	*fd = pin_open_as(reg->aqm->name, name, &map->shape);
	if (*fd < 0)
		return *fd == -ENOENT ? 0 : *fd;
	if (bpf_map_lookup_elem(outer_of(reg, map), &qdisc, &id))
		return errno == ENOENT ? 0 : -errno;
	return id == object_id(*fd);
}

/* The room of all arrays: 1; 0: they do not agree; or -errno. */
static int read_room(struct subscriber_maps *maps)
{
	struct bpf_map_info plans, names, dualqs;
	const int error = object_read(maps->plans, &plans) ?: object_read(maps->names, &names)
			?: object_read(maps->plan_dualqs, &dualqs);

	if (error)
		return error;
	maps->room = plans.max_entries - 1;
	maps->dualq_size = dualqs.value_size;
	return plans.max_entries == names.max_entries && plans.max_entries == dualqs.max_entries &&
	       maps->dualq_size >= sizeof(struct subscriber_use) &&
	       maps->room <= SUBSCRIBERS_ROOM_MAX;
}

int subscriber_maps_open(const struct registration *reg, const struct dualpi2_key *key,
			 struct subscriber_maps *maps)
{
	int found;

	*maps = SUBSCRIBER_MAPS_NONE;
	found = by_qdisc_number(reg, key, &maps->qdisc);
	if (found < 0)
		return found;
	PINNED_FOR(map)
		found = found > 0 ? open_one(reg, map, maps->qdisc, inner_of(maps, map)) : found;
	if (found > 0)
		found = inner_map_look(reg->parents, maps->qdisc);
	if (found > 0)
		found = read_room(maps);
	maps->generations = reg->generations;
	return expect_known(found, "the subscribers of %s", reg->aqm->kind);
}

/* ---- sweep ----------------------------------------------------------------------- */

static bool take_away(const struct registration *reg, __u32 qdisc)
{
	const int outer[] = { reg->plan_dualqs, reg->parents, reg->prefixes, reg->plans,
			      reg->names };
	char name[PIN_NAME_MAX];
	bool done = true;

	PINNED_FOR(map) {
		done = done && pin_forget(reg->aqm->name, pin_numbered(map->prefix, qdisc, name));
	}
	for (size_t i = 0; done && i < sizeof(outer) / sizeof(outer[0]); i++)
		done = by_qdisc_take_away(&by_subscriber, outer[i], qdisc);
	return done;
}

void subscriber_maps_sweep(const struct registrations *regs)
{
	by_qdisc_sweep(&by_subscriber, regs, take_away);
}
