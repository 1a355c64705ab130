// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base_rtt/rtt_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_rtt.skel.h"
#include "cli/message.h"
#include "kernel/cgroup.h"
#include "kernel/running.h"
#include "pinned/pins.h"

#define TOP "" /* directory of all pins */
#define LINK "link-"
#define MAP "prefixes-" /* of any version */
#define OUR_MAP MAP BASE_RTT_ABI "-"

/* ---- pins ------------------------------------------------------------------------------ */

int rtt_map_exists(__u64 cgroup)
{
	char name[PIN_NAME_MAX];

	return pin_exists(TOP, pin_numbered(LINK, cgroup, name));
}

int rtt_map_open(__u64 cgroup, int *map)
{
	static const struct object_shape shape = {
		.type = BPF_MAP_TYPE_LPM_TRIE,
		.key_size = sizeof(struct ip_prefix),
		.value_size = sizeof(struct base_rtt),
	};
	int found = expect_known(rtt_map_exists(cgroup), BASE_RTT_PIN_DIR);
	char name[PIN_NAME_MAX];

	if (found <= 0)
		return found;
	*map = pin_open_as(TOP, pin_numbered(OUR_MAP, cgroup, name), &shape);
	if (*map >= 0)
		return 1;
	if (*map == -ENOENT || *map == -EPROTO)
		fail(-*map, "another version of tcp-base-rtt is at work: `tcp-base-rtt off` first");
	else
		pin_refuse(*map, TOP, name);
	return *map;
}

static void forget_map(__u64 cgroup)
{
	DIR *pins = pins_list(TOP);
	const char *name;

	while ((name = pins_next(pins, MAP))) {
		if (pin_number(name) == cgroup)
			pin_forget(TOP, name);
	}
}

/* The map first: a link without one would be another version's. */
static bool begin(struct base_rtt_bpf *skel, __u64 cgroup, int fd, const struct rtt_entry *first)
{
	const int map = bpf_map__fd(skel->maps.base_rtts);
	char name[PIN_NAME_MAX];
	int link;

	if (!rtt_map_write(map, first) ||
	    !pin_create(map, TOP, pin_numbered(OUR_MAP, cgroup, name)))
		return false;
	link = cgroup_attach(bpf_program__fd(skel->progs.tcp_base_rtt), fd);
	return link >= 0 && pin_link(link, TOP, pin_numbered(LINK, cgroup, name));
}

bool rtt_map_create(__u64 cgroup, int fd, const struct rtt_entry *first)
{
	struct base_rtt_bpf *skel = base_rtt_bpf__open();
	bool begun;

	if (!skel)
		return fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
	forget_map(cgroup); /* which an interrupted run has left */
	begun = (!base_rtt_bpf__load(skel) || refuse_load(errno)) && begin(skel, cgroup, fd, first);
	base_rtt_bpf__destroy(skel);
	if (!begun)
		rtt_map_remove(cgroup);
	return begun;
}

void rtt_map_remove(__u64 cgroup)
{
	char name[PIN_NAME_MAX];

	pin_remove(TOP, pin_numbered(LINK, cgroup, name));
	forget_map(cgroup);
}

void rtt_maps_sweep(void)
{
	DIR *pins = pins_list(TOP);
	const char *name;

	while ((name = pins_next(pins, LINK))) {
		int link = pin_open(TOP, name);

		if (link >= 0 && cgroup_is_gone(link) > 0)
			rtt_map_remove(pin_number(name));
		if (link >= 0)
			close(link);
	}
}

bool rtt_map_next(DIR *pins, __u64 *cgroup)
{
	const char *name = pins_next(pins, LINK);

	*cgroup = name ? pin_number(name) : 0;
	return name;
}

/* ---- what is in a map ------------------------------------------------------------------ */

/* A look-up by the kernel would find the longest that holds this one. */
int rtt_map_look(int map, struct rtt_entry *entry)
{
	struct ip_prefix key, *previous = NULL;

	while (!bpf_map_get_next_key(map, previous, &key)) {
		previous = &key;
		if (!memcmp(&key, &entry->prefix, sizeof(key)))
			return bpf_map_lookup_elem(map, &key, &entry->base) ? -errno : 1;
	}
	return errno == ENOENT ? 0 : -errno;
}

bool rtt_map_write(int map, const struct rtt_entry *entry)
{
	if (!bpf_map_update_elem(map, &entry->prefix, &entry->base, BPF_ANY))
		return true;
	if (errno == ENOSPC)
		return fail(errno, "a control group may have %d prefixes: delete others first",
			    BASE_RTT_PREFIXES);
	return fail(errno, "a prefix cannot be written: %s", strerror(errno));
}

bool rtt_map_delete(int map, const struct ip_prefix *prefix)
{
	return !bpf_map_delete_elem(map, prefix) ||
	       fail(errno, "a prefix cannot be deleted: %s", strerror(errno));
}

bool rtt_map_is_empty(int map)
{
	struct ip_prefix key;

	return bpf_map_get_next_key(map, NULL, &key) && errno == ENOENT;
}

static int compare(const void *one, const void *other)
{
	const struct ip_prefix *a = &((const struct rtt_entry *)one)->prefix;
	const struct ip_prefix *b = &((const struct rtt_entry *)other)->prefix;
	int order = memcmp(a->address, b->address, sizeof(a->address));

	return order ?: (a->bits > b->bits) - (a->bits < b->bits);
}

struct rtt_entry *rtt_map_read(int map, size_t *count)
{
	struct rtt_entry *all = calloc(BASE_RTT_PREFIXES, sizeof(*all));
	struct ip_prefix key, *previous = NULL;

	*count = 0;
	if (!all) {
		fail(ENOMEM, "no memory");
		return NULL;
	}
	while (*count < BASE_RTT_PREFIXES && !bpf_map_get_next_key(map, previous, &key)) {
		previous = &key;
		all[*count].prefix = key;
		*count += !bpf_map_lookup_elem(map, &key, &all[*count].base);
	}
	qsort(all, *count, sizeof(*all), compare);
	return all;
}
