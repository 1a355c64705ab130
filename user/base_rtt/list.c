// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base_rtt/commands.h"
#include "base_rtt/told.h"
#include "cli/format.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "cli/privilege.h"
#include "kernel/cgroup.h"
#include "pinned/pins.h"
#include "show/json.h"

#define US 1000 /* ns */

/* What a listing goes to, and what of. */
struct listing {
	__u64 only;		  /* number of a control group; 0: all */
	struct json_object *json; /* array; NULL: a table */
	int count;
};

static void add_row(const struct told *told, const char *cgroup, struct listing *listing)
{
	char prefix[PREFIX_TEXT_MAX], time[FORMAT_MAX];
	struct json_object *one;

	prefix_format(&told->prefix, prefix);
	if (listing->json) {
		one = json_object_new_object();
		json_add_text(one, "prefix", prefix);
		json_add_decimal(one, "base-rtt", JSON_SECONDS, told->base.rtt_us / 1e6);
		json_add_uint(one, "asked", told->base.asked);
		json_add_text(one, "cgroup", cgroup);
		json_object_array_add(listing->json, one);
		return;
	}
	if (!listing->count++)
		printf("%-28s %9s %10s  %s\n", "prefix", "base RTT", "asked", "control group");
	say_line("%-28s %9s %10" PRIu64 "  %s", prefix,
		 format_time((uint64_t)told->base.rtt_us * US, time), (uint64_t)told->base.asked,
		 cgroup);
}

static bool list_map(int map, const char *cgroup, struct listing *listing)
{
	size_t count;
	struct told *all = rtt_map_read_all(map, &count);

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

static bool list_one(__u64 cgroup, void *data)
{
	struct listing *listing = data;
	char path[PATH_MAX];
	bool listed;
	int map;

	if (listing->only && listing->only != cgroup)
		return true;
	if (told_open(cgroup, &map) <= 0)
		return !message_reported();
	listed = list_map(map, path_of(cgroup, path), listing);
	close(map);
	return listed;
}

static bool list_all(struct listing *listing)
{
	char why[PINS_WHY_MAX];
	int found = pins_find(why);

	if (found < 0)
		return fail(-found, "%s", why);
	return !found || (told_each(list_one, listing) && !message_reported());
}

bool base_rtt_list(const char *cgroup, bool as_json)
{
	struct listing listing = { .json = as_json ? json_object_new_array() : NULL };
	struct json_object *all;
	bool listed;

	if (cgroup) {
		int fd = cgroup_open(cgroup);

		if (fd < 0)
			return false;
		listing.only = cgroup_number(fd);
		close(fd);
	}
	listed = list_all(&listing);
	if (as_json) {
		all = json_object_new_object();
		json_add(all, "base-rtts", listing.json);
		if (listed)
			json_put_line(stdout, all);
		else
			json_object_put(all);
	} else if (listed && !listing.count) {
		printf("no base RTT is told\n");
	}
	return listed;
}
