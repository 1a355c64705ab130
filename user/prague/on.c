// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Everything is pinned below PRAGUE_PIN_DIR: the programs, a link for each device, a link for each
 * control group. A run that is killed leaves pins, which the next one finds.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/netns.h"
#include "pinned/pins.h"
#include "prague/cgroup.h"
#include "prague/commands.h"
#include "prague/default.h"
#include "prague/devices.h"
#include "prague/opt_in.h"
#include "prague/programs.h"

#define NETNS_DIR "/run/netns"
#define PIN_NAME_MAX 64

#define FALL_BACK_MS 5000 /* that live sockets get for an ACK */
#define POLL_MS 50

/* ---- on ------------------------------------------------------------------------------ */

static bool enter_netns(const char *name)
{
	char path[PATH_MAX];
	bool entered;
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : NETNS_DIR "/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(errno, "--netns %s: no such network namespace (see `ip netns`)", name);
	entered = !setns(fd, CLONE_NEWNET) ||
		  fail(errno, "--netns %s: cannot be entered: run it as root", name);
	close(fd);
	return entered;
}

/* The control group of those that are to have it; -1, which is reported. */
static int open_cgroup(const struct selection *selection)
{
	char path[PATH_MAX];

	if (selection->cgroup)
		return cgroup_open(selection->cgroup);
	if (selection->unit)
		return cgroup_open_unit(selection->unit, path);
	return cgroup_open_root();
}

/* The number of a link's control group, which does not come again as long as the system runs; 0: it
 * is gone, or unknown.
 */
static __u64 cgroup_of(int link)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);

	return bpf_link_get_info_by_fd(link, &info, &size) ? 0 : info.cgroup.cgroup_id;
}

/* Remove the pins of links whose control group is gone: each start of a unit has a new one. */
static void sweep_opt_ins(void)
{
	DIR *pins = pins_list(OPT_IN_PINS);
	const char *name;

	while ((name = pins_next(pins, ""))) {
		int link = pin_open(OPT_IN_PINS, name);

		if (link >= 0 && !cgroup_of(link))
			pin_remove(OPT_IN_PINS, name);
		if (link >= 0)
			close(link);
	}
}

/* Replaces what was asked for the same before. */
static bool opt_in(const struct selection *selection, int cgroup)
{
	const struct opt_in wanted = {
		.congestion = PRAGUE_NAME,
		.netns = selection->netns ? netns_current() : 0,
		.to = selection->to,
		.not_to = selection->not_to,
	};
	char name[PIN_NAME_MAX];
	int link;
	bool kept;

	if (cgroup < 0)
		return true; /* programs ask for it themselves */
	sweep_opt_ins();
	link = opt_in_attach(&wanted, cgroup);
	if (link < 0)
		return false;
	if (selection->netns)
		snprintf(name, sizeof(name), "netns-%llu", netns_current());
	else
		snprintf(name, sizeof(name), "cgroup-%llu", cgroup_of(link));
	pin_remove(OPT_IN_PINS, name);
	kept = pin_create(link, OPT_IN_PINS, name);
	close(link);
	return kept;
}

/* Those that are at work, of this version; `made`: now. */
static bool have_programs(struct programs *programs, bool *made)
{
	struct programs before;
	int state = programs_open(&before), current;

	*made = false;
	*programs = before;
	if (state < 0)
		return false;
	if (state && kernel_has_prague() == 0) { /* an `off` was interrupted */
		programs_close(&before);
		state = 0;
	}
	if (!state) {
		devices_detach(); /* their programs are of another registration */
		*made = true;
		if (programs_load(PRAGUE_NAME, NULL, programs) && programs_pin(programs))
			return true;
		return false;
	}
	current = expect_known(programs_are_current(), PRAGUE_PIN_DIR);
	if (current)
		return current > 0;
	verbose("another version is at work: replacing its programs");
	return programs_load(PRAGUE_NAME, &before, programs) && devices_update(programs) &&
	       programs_pin(programs);
}

/* What the kernel brings itself is used as it is: it sends ECT(1) by itself. */
static bool have_congestion(const struct selection *selection, bool *made)
{
	const struct prague_config config = {
		.no_classic_detection = selection->no_classic_detection,
	};
	struct programs programs;
	int own = programs_open(&programs), has = own ? 0 : kernel_has_prague();

	programs_close(&programs);
	*made = false;
	if (own < 0 || expect_known(has, "the congestion controls of this kernel") < 0)
		return false;
	if (has) {
		printf("  the kernel has a " PRAGUE_NAME " of its own, which is used\n");
		return true;
	}
	return have_programs(&programs, made) && programs_configure(&programs, &config) &&
	       devices_attach(&programs, selection->devices, true);
}

static void forget_opt_ins(void)
{
	DIR *pins = pins_list(OPT_IN_PINS);
	const char *name;

	while ((name = pins_next(pins, "")))
		pin_remove(OPT_IN_PINS, name);
	pins_remove_directory(OPT_IN_PINS);
}

/* What this run has begun, or another one that was killed. */
static void remove_all(void)
{
	struct programs programs;

	forget_opt_ins();
	defaults_restore();
	if (programs_open(&programs) > 0)
		programs_retire(&programs);
	programs_close(&programs);
	devices_detach();
	programs_unpin();
	pins_remove_directory("");
}

static bool turn_on(const struct selection *selection, int cgroup)
{
	bool made, done;

	if (!pins_lock())
		return false;
	if (selection->no_classic_detection)
		printf("  WARNING: without the detection Prague starves others behind a queue with "
		       "Classic ECN (RFC 9331, 4.3)\n");
	done = have_congestion(selection, &made) && opt_in(selection, cgroup) &&
	       (!selection->is_default || default_set());
	if (!done && made)
		remove_all();
	pins_remove_directory(""); /* made for the lock: if it is empty */
	if (done)
		printf("on: new connections are Prague's where the peer has Accurate ECN\n");
	return done;
}

bool prague_on(const struct selection *selection)
{
	const bool is_for_others = selection->cgroup || selection->unit || selection->netns;
	int cgroup = -1;
	bool done;

	if (!pins_mount_bpffs() || (selection->netns && !enter_netns(selection->netns)))
		return false;
	/* Before anything is changed. */
	if (is_for_others)
		cgroup = open_cgroup(selection);
	if (is_for_others && cgroup < 0)
		return false;
	done = turn_on(selection, cgroup);
	if (cgroup >= 0)
		close(cgroup);
	return done;
}

/* ---- off ------------------------------------------------------------------------------- */

static void count_one(const struct prague_report *socket, void *count)
{
	*(int *)count += socket->mode < PRAGUE_NO_ACCECN;
}

/* How many sockets are Prague's. */
static int count_sockets(const struct programs *programs)
{
	int count = 0;

	programs_each_socket(programs, count_one, &count);
	return count;
}

/* Wait until live sockets have fallen back, which they do at an ACK: how many are left. */
static int wait_for_fall_back(const struct programs *programs)
{
	const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };
	int left = count_sockets(programs);

	for (int waited_ms = 0; left && waited_ms < FALL_BACK_MS; waited_ms += POLL_MS) {
		nanosleep(&poll, NULL);
		left = count_sockets(programs);
	}
	return left;
}

/* In this order: without the program that makes ECT(1) a socket responds as Reno, but then it may
 * as well be Cubic's before.
 */
static bool take_back(struct programs *programs)
{
	const int before = count_sockets(programs);
	int left;

	programs_retire(programs);
	left = wait_for_fall_back(programs);
	devices_detach();
	programs_unpin();
	printf("off: %d socket%s fell back to " PRAGUE_FALLBACK "\n", before - left,
	       before - left == 1 ? "" : "s");
	if (left)
		printf("  %d had nothing to receive: they respond as Reno, and fall back at their "
		       "next ACK\n",
		       left);
	return !message_reported();
}

bool prague_off(bool if_any)
{
	struct programs programs;
	bool done = true;
	int found;

	if (!pins_lock_if_any())
		return false;
	found = programs_open(&programs);
	if (found < 0)
		return false;
	found |= pin_exists(OPT_IN_PINS, "") > 0 || pin_exists(DEFAULT_PINS, "") > 0;
	forget_opt_ins();
	defaults_restore();
	if (programs.registration >= 0)
		done = take_back(&programs);
	else
		devices_detach(); /* what a run left that was killed */
	programs_unpin();
	pins_remove_directory("");
	if (!found && !if_any)
		return fail(0, "nothing to undo: tcp-prague is not on");
	if (!found || programs.registration < 0)
		printf("off\n");
	return done && !message_reported();
}
