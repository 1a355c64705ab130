// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/host_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "hosts.h"
#include "kernel/inner_map.h"
#include "pinned/ledger.h"
#include "pinned/pins.h"

#define DUALQ "dualq" /* struct of bpf/instance.bpf.h */

/* ---- make ------------------------------------------------------------------------ */

/* Always false. */
static bool refuse(int error, __u32 hosts, __u64 bytes)
{
	if (error == -ENOMEM || error == -E2BIG)
		return fail(0,
			    "no memory for the queues of %u hosts, %llu MB: give fewer with "
			    "--hosts",
			    hosts, bytes >> 20);
	if (error == -EPERM)
		return fail(EPERM, "the kernel does not let us make queues for hosts: run it %s",
			    privilege_as_root(PRIVILEGE_LOAD));
	if (error == -ENOENT)
		return fail(0, PINS_OTHER_VERSION);
	return fail(-error, "the kernel refuses to make queues for hosts: %s", strerror(-error));
}

/* Who has loaded the programs just now has their types; else it takes a right that loading does
 * not.
 */
static bool has_types(const struct registration *reg)
{
	return reg->types >= 0 ||
	       fail(EPERM,
		    "the types of the loaded programs, which one more qdisc with --per-host takes, "
		    "are shown to CAP_SYS_ADMIN only: run it %s",
		    privilege_as_root(PRIVILEGE_TYPES));
}

bool host_maps_make(const struct registration *reg, __u32 hosts, struct host_maps *maps)
{
	const struct inner_value set = { .types = -1, .size = sizeof(struct hosts_set) };
	struct inner_value dualq = {};
	int error;

	*maps = (struct host_maps){ -1, -1 };
	if (reg->aqm->variant != AQM_HOSTS)
		return true;
	if (!has_types(reg))
		return false;
	error = inner_value_find(reg->types, DUALQ, &dualq);
	if (!error) {
		maps->sets = inner_map_make("dualpi2_sets", &set, hosts / HOSTS_WAYS);
		maps->dualqs = inner_map_make("dualpi2_dualqs", &dualq, hosts);
		error = maps->sets < 0 ? maps->sets : maps->dualqs < 0 ? maps->dualqs : 0;
	}
	return !error || refuse(error, hosts, (__u64)hosts * dualq.size);
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void host_maps_close(struct host_maps *maps)
{
	close_one(maps->sets);
	close_one(maps->dualqs);
}

/* ---- put in -------------------------------------------------------------------------- */

/* 0, or -errno. `keeps`: one that is there stays. */
static int put_one(int outer, __u32 number, int map, bool keeps)
{
	int there = keeps ? inner_map_look(outer, number) : 0;

	if (there)
		return there > 0 ? 0 : there;
	return bpf_map_update_elem(outer, &number, &map, BPF_ANY) ? -errno : 0;
}

bool host_maps_put(const struct registration *reg, const struct dualpi2_key *key,
		   const struct host_maps *maps, bool keeps)
{
	__u32 number;
	int error;

	if (reg->aqm->variant != AQM_HOSTS)
		return true;
	error = expect_known(map_read(reg->live, key, &number), "the live qdiscs of %s",
			     reg->aqm->kind);
	if (error < 0)
		return false;
	if (!error)
		return fail(0, "the qdisc has just been removed: run it again");
	error = put_one(reg->host_sets, number, maps->sets, keeps)
			?: put_one(reg->host_dualqs, number, maps->dualqs, keeps);
	return !error ||
	       fail(-error, "the kernel refuses to take queues for hosts: %s", strerror(-error));
}

int host_maps_look(const struct registration *reg, const struct dualpi2_key *key)
{
	__u32 number;
	int found;

	if (reg->aqm->variant != AQM_HOSTS)
		return 1;
	found = map_read(reg->live, key, &number);
	if (found > 0)
		found = inner_map_look(reg->host_sets, number);
	if (found > 0)
		found = inner_map_look(reg->host_dualqs, number);
	return expect_known(found, "the queues for hosts of %s", reg->aqm->kind);
}

/* ---- sweep ----------------------------------------------------------------------- */

/* Those that are used: 0, or -errno. (A batch misses none: see find_published() of maps.c.) */
static int read_numbers(const struct registration *reg, bool is_used[DUALPI2_MAX_INSTANCES])
{
	struct dualpi2_key keys[DUALPI2_MAX_INSTANCES], next;
	__u32 numbers[DUALPI2_MAX_INSTANCES], count = DUALPI2_MAX_INSTANCES;
	int error = bpf_map_lookup_batch(reg->live, NULL, &next, keys, numbers, &count, NULL);

	if (error && error != -ENOENT) /* that is their end */
		return error;
	for (__u32 i = 0; i < count; i++) {
		if (numbers[i] < DUALPI2_MAX_INSTANCES)
			is_used[numbers[i]] = true;
	}
	return 0;
}

static void take_away(int outer, __u32 number)
{
	if (inner_map_look(outer, number) > 0 && bpf_map_delete_elem(outer, &number))
		verbose("the queues for hosts of a former qdisc stay: %s", strerror(errno));
}

static void sweep(const struct registration *reg)
{
	bool is_used[DUALPI2_MAX_INSTANCES] = {};
	int error = read_numbers(reg, is_used);

	if (error)
		verbose("cannot see which qdiscs of %s live: %s", reg->aqm->kind, strerror(-error));
	for (__u32 number = 0; !error && number < DUALPI2_MAX_INSTANCES; number++) {
		if (is_used[number])
			continue;
		take_away(reg->host_dualqs, number);
		take_away(reg->host_sets, number);
	}
}

void host_maps_sweep(const struct registrations *regs)
{
	for (size_t i = 0; i < regs->count; i++) {
		if (regs->of[i].aqm->variant == AQM_HOSTS && registration_is_open(&regs->of[i]))
			sweep(&regs->of[i]);
	}
}
