// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* add, del and off. */
#include <stdio.h>
#include <unistd.h>

#include "base_rtt/commands.h"
#include "base_rtt/told.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "kernel/cgroup.h"
#include "kernel/running.h"
#include "pinned/pins.h"

#define ASKS "nv" /* the congestion control that asks for a base RTT */

static int open_cgroup(const char *path)
{
	return path ? cgroup_open(path) : cgroup_open_root();
}

/* ---- add --------------------------------------------------------------------------------- */

static bool change(int map, struct told *told)
{
	const __u32 rtt_us = told->base.rtt_us;

	if (expect_known(told_look(map, told), "what is told") < 0)
		return false;
	told->base.rtt_us = rtt_us; /* how often it was asked stays */
	return told_write(map, told);
}

static bool add_to(int cgroup, struct told *told)
{
	const __u64 number = cgroup_number(cgroup);
	int map, found;
	bool done;

	told_sweep();
	found = told_open(number, &map);
	if (found <= 0)
		return !found && rtt_map_create(number, cgroup, told);
	done = change(map, told);
	close(map);
	return done;
}

bool base_rtt_add(const char *cgroup, const struct ip_prefix *prefix, __u32 rtt_us)
{
	struct told told = { .prefix = *prefix, .base.rtt_us = rtt_us };
	int fd = bpffs_mount() ? open_cgroup(cgroup) : -1;
	bool done;

	if (fd < 0 || !pins_lock())
		return false;
	done = add_to(fd, &told);
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

static bool is_not_told(const struct ip_prefix *prefix)
{
	char text[PREFIX_TEXT_MAX];

	return fail(0, "%s: no base RTT is told for it (see `tcp-base-rtt list`)",
		    prefix_format(prefix, text));
}

static bool delete_from(int map, const struct ip_prefix *prefix)
{
	struct told told = { .prefix = *prefix };
	int found = expect_known(told_look(map, &told), "what is told");

	return found > 0 ? told_delete(map, prefix) : !found && is_not_told(prefix);
}

bool base_rtt_delete(const char *cgroup, const struct ip_prefix *prefix)
{
	int fd = open_cgroup(cgroup), map, found;
	__u64 number;
	bool done;

	if (fd < 0 || !pins_lock_if_any())
		return false;
	told_sweep();
	number = cgroup_number(fd);
	close(fd);
	found = told_open(number, &map);
	if (found <= 0)
		return !found && is_not_told(prefix);
	done = delete_from(map, prefix);
	if (done && told_is_empty(map))
		told_end(number);
	close(map);
	pins_remove_directory(""); /* if it is empty */
	return done;
}

/* ---- off --------------------------------------------------------------------------------- */

/* How many control groups are told no more. */
static bool end(__u64 cgroup, void *count)
{
	told_end(cgroup);
	++*(int *)count;
	return true;
}

bool base_rtt_off(const char *cgroup, bool if_any)
{
	int fd = cgroup ? cgroup_open(cgroup) : -1, count = 0;
	const __u64 number = cgroup_number(fd);

	if ((cgroup && fd < 0) || !pins_lock_if_any())
		return false;
	if (!cgroup) {
		told_each(end, &count);
		pins_end();
	} else if (expect_known(told_exists(number), BASE_RTT_PIN_DIR) > 0) {
		end(number, &count);
		pins_remove_directory(""); /* if it is empty */
	}
	if (!count && !if_any && !message_reported())
		fail(0, "nothing to undo: no base RTT is told");
	return !message_reported();
}
