// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/by_qdisc.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/inner_map.h"
#include "pinned/ledger.h"
#include "pinned/pins.h"

#define DUALQ "dualq" /* struct of bpf/instance.bpf.h */

/* ---- make ------------------------------------------------------------------------ */

bool by_qdisc_refuse(const struct by_qdisc *by, int error, __u32 length, __u64 bytes)
{
	if (error == -ENOMEM || error == -E2BIG)
		return fail(0, "no memory for the queues of %u %s, %llu MB: %s", length, by->whose,
			    bytes >> 20, by->fewer);
	if (error == -EPERM)
		return fail(EPERM, "the kernel does not let us make queues for %s: run it %s",
			    by->whose, privilege_as_root(PRIVILEGE_LOAD));
	if (error == -ENOENT)
		return fail(0, PINS_OTHER_VERSION);
	return fail(-error, "the kernel refuses to make queues for %s: %s", by->whose,
		    strerror(-error));
}

/* Who has loaded the programs just now has their types; else it takes a right that loading does
 * not.
 */
static bool has_types(const struct by_qdisc *by, const struct registration *reg)
{
	return reg->types >= 0 ||
	       fail(EPERM,
		    "the types of the loaded programs, which one more qdisc with %s takes, are "
		    "shown to CAP_SYS_ADMIN only: run it %s",
		    by->option, privilege_as_root(PRIVILEGE_TYPES));
}

int by_qdisc_make_dualqs(const struct by_qdisc *by, const struct registration *reg,
			 const char *name, __u32 length)
{
	struct inner_value dualq = {};
	int made;

	if (!has_types(by, reg))
		return -1;
	made = inner_value_find(reg->types, DUALQ, &dualq);
	if (!made)
		made = inner_map_make(name, &dualq, length);
	if (made >= 0)
		return made;
	by_qdisc_refuse(by, made, length, (__u64)length * dualq.size);
	return -1;
}

void by_qdisc_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- put in -------------------------------------------------------------------------- */

int by_qdisc_number(const struct registration *reg, const struct dualpi2_key *key, __u32 *number)
{
	return expect_known(map_read(reg->live, key, number), "the live qdiscs of %s",
			    reg->aqm->kind);
}

int by_qdisc_put(int outer, __u32 number, int map, bool keeps)
{
	int there = keeps ? inner_map_look(outer, number) : 0;

	if (there)
		return there > 0 ? 0 : there;
	return bpf_map_update_elem(outer, &number, &map, BPF_ANY) ? -errno : 0;
}

bool by_qdisc_gone(void)
{
	return fail(0, "the qdisc has just been removed: run it again");
}

bool by_qdisc_refuse_place(const struct by_qdisc *by, int error)
{
	return fail(-error, "the kernel refuses to take queues for %s: %s", by->whose,
		    strerror(-error));
}

/* ---- sweep ----------------------------------------------------------------------- */

/* Keys and values of a map that has an entry for each qdisc at most: 0, or -errno. (A batch misses
 * none: see find_published() of maps.c.)
 */
static int read_all(int map, void *keys, void *values, __u32 *count)
{
	struct dualpi2_key next;
	int error;

	*count = DUALPI2_MAX_INSTANCES;
	error = bpf_map_lookup_batch(map, NULL, &next, keys, values, count, NULL);
	return error == -ENOENT ? 0 : error; /* that is their end */
}

/* The numbers of former qdiscs that have left something: 0, or -errno. */
static int find_left(const struct by_qdisc *by, const struct registration *reg,
		     bool is_left[DUALPI2_MAX_INSTANCES])
{
	__u32 numbers[DUALPI2_MAX_INSTANCES], ids[DUALPI2_MAX_INSTANCES], count;
	struct dualpi2_key keys[DUALPI2_MAX_INSTANCES];
	int error = read_all(*(const int *)((const char *)reg + by->first), numbers, ids, &count);

	if (error)
		return error;
	for (__u32 i = 0; i < count; i++)
		is_left[numbers[i]] = true;
	error = read_all(reg->live, keys, numbers, &count);
	for (__u32 i = 0; !error && i < count; i++) {
		if (numbers[i] < DUALPI2_MAX_INSTANCES)
			is_left[numbers[i]] = false;
	}
	return error;
}

bool by_qdisc_take_away(const struct by_qdisc *by, int outer, __u32 number)
{
	return !bpf_map_delete_elem(outer, &number) || errno == ENOENT ||
	       fail(errno, "the queues for %s of a former qdisc stay: %s: run it again", by->whose,
		    strerror(errno));
}

static void sweep(const struct by_qdisc *by, const struct registration *reg,
		  by_qdisc_remove *remove)
{
	bool is_left[DUALPI2_MAX_INSTANCES] = {};
	bool done = expect_known(find_left(by, reg, is_left), "the queues for %s", by->whose) >= 0;

	for (__u32 number = 0; done && number < DUALPI2_MAX_INSTANCES; number++)
		done = !is_left[number] || remove(reg, number);
}

void by_qdisc_sweep(const struct by_qdisc *by, const struct registrations *regs,
		    by_qdisc_remove *remove)
{
	for (size_t i = 0; i < regs->count; i++) {
		if (regs->of[i].aqm->variant == by->variant && registration_is_open(&regs->of[i]))
			sweep(by, &regs->of[i], remove);
	}
}
