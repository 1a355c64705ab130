// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All but measure. */
#include "base_rtt/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base_rtt/rtt_map.h"
#include "cli/format.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "kernel/cgroup.h"
#include "kernel/running.h"
#include "pinned/pins.h"
#include "show/json.h"

#define ASKS "nv" /* the congestion control that asks for a base RTT */
#define US 1000	  /* ns */

static int open_cgroup(const char *path)
{
	return path ? cgroup_open(path) : cgroup_open_root();
}

/* ---- add --------------------------------------------------------------------------------- */

static bool change(int map, struct rtt_entry *entry)
{
	const __u32 rtt_us = entry->base.rtt_us;

	if (expect_known(rtt_map_look(map, entry), "the base RTTs") < 0)
		return false;
	entry->base.rtt_us = rtt_us; /* how often it was asked stays */
	return rtt_map_write(map, entry);
}

static bool add_to(int cgroup, struct rtt_entry *entry)
{
	const __u64 number = cgroup_number(cgroup);
	int map, found;
	bool done;

	rtt_maps_sweep();
	found = rtt_map_open(number, &map);
	if (found <= 0)
		return !found && rtt_map_create(number, cgroup, entry);
	done = change(map, entry);
	close(map);
	return done;
}

bool base_rtt_add(const char *cgroup, const struct ip_prefix *prefix, __u32 rtt_us)
{
	struct rtt_entry entry = { .prefix = *prefix, .base.rtt_us = rtt_us };
	int fd = bpffs_mount() ? open_cgroup(cgroup) : -1;
	bool done;

	if (fd < 0 || !pins_lock())
		return false;
	done = add_to(fd, &entry);
	pins_remove_directory(""); /* made for the lock: if it is empty */
	close(fd);
	if (!done)
		return false;
	printf("in force for new connections with TCP-NV\n");
	if (!kernel_has_congestion(ASKS))
		printf("  WARNING: this kernel has no TCP-NV (CONFIG_TCP_CONG_NV), and nothing "
		       "else asks\n");
	return true;
}

/* ---- del --------------------------------------------------------------------------------- */

static bool refuse_unknown(const struct ip_prefix *prefix)
{
	char text[PREFIX_TEXT_MAX];

	return fail(0, "%s: has no base RTT (see `tcp-base-rtt list`)",
		    prefix_format(prefix, text));
}

static bool delete_from(int map, const struct ip_prefix *prefix)
{
	struct rtt_entry entry = { .prefix = *prefix };
	int found = expect_known(rtt_map_look(map, &entry), "the base RTTs");

	return found > 0 ? rtt_map_delete(map, prefix) : !found && refuse_unknown(prefix);
}

bool base_rtt_delete(const char *cgroup, const struct ip_prefix *prefix)
{
	int fd = open_cgroup(cgroup), map, found;
	__u64 number;
	bool done;

	if (fd < 0 || !pins_lock_if_any())
		return false;
	rtt_maps_sweep();
	number = cgroup_number(fd);
	close(fd);
	found = rtt_map_open(number, &map);
	if (found <= 0)
		return !found && refuse_unknown(prefix);
	done = delete_from(map, prefix);
	if (done && rtt_map_is_empty(map))
		rtt_map_remove(number);
	close(map);
	pins_remove_directory(""); /* if it is empty */
	return done;
}

/* ---- off --------------------------------------------------------------------------------- */

/* How many maps it removed. */
static int end_all(void)
{
	DIR *pins = pins_list("");
	__u64 cgroup;
	int count = 0;

	while (rtt_map_next(pins, &cgroup)) {
		rtt_map_remove(cgroup);
		count++;
	}
	pins_end();
	return count;
}

/* The same of one control group. */
static int end_one(__u64 cgroup)
{
	if (expect_known(rtt_map_exists(cgroup), BASE_RTT_PIN_DIR) <= 0)
		return 0;
	rtt_map_remove(cgroup);
	pins_remove_directory(""); /* if it is empty */
	return 1;
}

bool base_rtt_off(const char *cgroup, bool if_any)
{
	int fd = cgroup ? cgroup_open(cgroup) : -1, count;

	if ((cgroup && fd < 0) || !pins_lock_if_any())
		return false;
	count = cgroup ? end_one(cgroup_number(fd)) : end_all();
	if (!count && !if_any && !message_reported())
		fail(0, "nothing to undo: there is no base RTT");
	return !message_reported();
}

/* ---- list -------------------------------------------------------------------------------- */

struct listing {
	struct json_object *json; /* array; NULL: a table */
	int count;
};

static void add_row(const struct rtt_entry *entry, const char *cgroup, struct listing *listing)
{
	char prefix[PREFIX_TEXT_MAX], time[FORMAT_MAX];
	struct json_object *one;

	prefix_format(&entry->prefix, prefix);
	if (listing->json) {
		one = json_object_new_object();
		json_add_text(one, "prefix", prefix);
		json_add_decimal(one, "base-rtt", JSON_SECONDS, entry->base.rtt_us / 1e6);
		json_add_uint(one, "asked", entry->base.asked);
		json_add_text(one, "cgroup", cgroup);
		json_object_array_add(listing->json, one);
		return;
	}
	if (!listing->count++)
		printf("%-28s %9s %10s  %s\n", "prefix", "base RTT", "asked", "control group");
	say_line("%-28s %9s %10" PRIu64 "  %s", prefix,
		 format_time((uint64_t)entry->base.rtt_us * US, time), (uint64_t)entry->base.asked,
		 cgroup);
}

static bool list_map(int map, const char *cgroup, struct listing *listing)
{
	size_t count;
	struct rtt_entry *all = rtt_map_read(map, &count);

	for (size_t i = 0; all && i < count; i++)
		add_row(&all[i], cgroup, listing);
	free(all);
	return all;
}

static const char *path_of(__u64 cgroup, char path[PATH_MAX])
{
	int found = cgroup_find(cgroup, path);

	return found > 0 ? path : found ? "(unknown)" : "(gone)";
}

static bool list_one(__u64 cgroup, struct listing *listing)
{
	char path[PATH_MAX];
	bool listed;
	int map;

	if (rtt_map_open(cgroup, &map) <= 0)
		return !message_reported();
	listed = list_map(map, path_of(cgroup, path), listing);
	close(map);
	return listed;
}

/* `only`: the number of a control group; 0: all. */
static bool list_all(__u64 only, struct listing *listing)
{
	int found = pins_look();
	bool listed = true;
	__u64 cgroup;
	DIR *pins;

	if (found <= 0)
		return !found;
	pins = pins_list("");
	while (rtt_map_next(pins, &cgroup)) {
		if (listed && (!only || only == cgroup))
			listed = list_one(cgroup, listing);
	}
	return listed && !message_reported();
}

bool base_rtt_list(const char *cgroup, bool as_json)
{
	struct listing listing = { .json = as_json ? json_object_new_array() : NULL };
	int fd = cgroup ? cgroup_open(cgroup) : -1;
	struct json_object *all;
	bool listed;

	if (cgroup && fd < 0)
		return false;
	listed = list_all(cgroup_number(fd), &listing);
	if (as_json) {
		all = json_object_new_object();
		json_add(all, "base-rtts", listing.json);
		if (listed)
			json_put_line(stdout, all);
		else
			json_object_put(all);
	} else if (listed && !listing.count) {
		printf("there is no base RTT\n");
	}
	return listed;
}
