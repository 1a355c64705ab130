// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Everything is pinned below PRAGUE_PIN_DIR: the programs, a link for each device, a link for each
 * control group. A run that is killed leaves pins, which the next one finds.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/cgroup.h"
#include "kernel/netns.h"
#include "kernel/running.h"
#include "pinned/pins.h"
#include "prague/commands.h"
#include "prague/default.h"
#include "prague/devices.h"
#include "prague/opt_in.h"
#include "prague/programs.h"

#define FALL_BACK_MS 5000 /* that live sockets get for an ACK */
#define POLL_MS 50

/* ---- undo ------------------------------------------------------------------------------ */

static void count_one(const struct prague_report *socket, void *count)
{
	*(int *)count += socket->mode < PRAGUE_NO_ACCECN;
}

/* The number of sockets that use Prague. */
static int count_sockets(const struct programs *programs)
{
	int count = 0;

	programs_each_socket(programs, count_one, &count);
	return count;
}

/* Wait until live sockets have fallen back, which they do at an ACK. Returns how many have not. */
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

/* Sockets that used Prague, and those of them that have not fallen back. */
struct fallen {
	int before, left;
};

/* Undo all, of this run or of others, in this order: without the program that makes ECT(1) a socket
 * responds as Reno, but then it may as well be Cubic's before.
 */
static struct fallen undo_all(const struct programs *programs)
{
	struct fallen fallen = {};

	pins_remove_links(OPT_IN_PINS);
	defaults_restore(programs->registration >= 0);
	if (programs->registration >= 0) {
		fallen.before = count_sockets(programs);
		programs_retire(programs);
		fallen.left = wait_for_fall_back(programs);
	}
	devices_detach();
	programs_unpin();
	pins_end();
	return fallen;
}

/* ---- on ------------------------------------------------------------------------------ */

static bool enter_netns(const char *name)
{
	int error = -netns_enter(name);

	switch (error) {
	case 0:
		return true;
	case ENOENT:
		return fail(error, "--netns %s: no such network namespace (see `ip netns`)", name);
	case EINVAL:
		return fail(error, "--netns %s: is not a network namespace (see `ip netns`)", name);
	case EACCES:
	case EPERM:
		return fail(error, "--netns %s: cannot be entered: run it %s", name,
			    privilege_as_root(PRIVILEGE_MOUNT));
	}
	return fail(error, "--netns %s: cannot be entered: %s", name, strerror(error));
}

/* The control group of the sockets that were chosen; -1, which is reported. */
static int open_cgroup(const struct selection *selection)
{
	char path[PATH_MAX];
	int cgroup;

	if (selection->cgroup)
		return cgroup_open(selection->cgroup);
	if (!selection->unit)
		return cgroup_open_root();
	cgroup = cgroup_open_unit(selection->unit, path);
	if (cgroup >= 0)
		say_line("  %s is %s", selection->unit, path);
	return cgroup;
}

static bool opt_in(const struct selection *selection, int cgroup)
{
	const struct opt_in wanted = {
		.congestion = PRAGUE_NAME,
		.netns = selection->netns ? netns_current() : 0,
		.to = selection->to,
		.not_to = selection->not_to,
	};

	return cgroup < 0 || opt_in_pin(&wanted, cgroup); /* or programs select it themselves */
}

/* Programs of this version: those at work (`before`), or new ones in their place. */
static bool ensure_current(const struct programs *before, struct programs *programs)
{
	*programs = *before;
	if (before->is_current)
		return true;
	verbose("another version is at work: replacing its programs");
	return programs_load(PRAGUE_NAME, before, programs) && devices_update(programs) &&
	       programs_pin(programs);
}

/* Load programs where none are at work. */
static bool load_new(struct programs *programs)
{
	devices_detach(); /* what there is belongs to a registration that has ended */
	return programs_load(PRAGUE_NAME, NULL, programs) && programs_pin(programs);
}

/* Have the kernel know a Prague. One of its own is used as it is: it sends ECT(1) by itself.
 * `made`: the programs were loaded now.
 */
static bool ensure_prague(struct programs *programs, bool *made)
{
	struct programs before;
	int at_work = programs_open(&before), is_kernels;

	*programs = PROGRAMS_NONE;
	*made = false;
	if (at_work < 0)
		return false;
	is_kernels = at_work ? 0 : expect_known(prague_is_kernels(), "the kernel's " PRAGUE_NAME);
	if (is_kernels < 0)
		return false;
	if (is_kernels) {
		printf("  the kernel has a " PRAGUE_NAME " of its own, which is used\n");
		return true;
	}
	/* Pins without it: an `off` was interrupted. */
	*made = !at_work || !kernel_has_congestion(PRAGUE_NAME);
	return *made ? load_new(programs) : ensure_current(&before, programs);
}

/* Attach, choose sockets and configure. Only the configuration changes what another `on` wants, so
 * it comes last.
 */
static bool apply(const struct selection *selection, int cgroup, const struct programs *programs)
{
	const struct prague_config config = {
		.no_classic_detection = selection->no_classic_detection,
	};
	const bool is_ours = programs->registration >= 0;

	defaults_sweep();
	return (!is_ours || devices_attach(programs, selection->devices, true)) &&
	       opt_in(selection, cgroup) && (!selection->is_default || default_set()) &&
	       (!is_ours || programs_configure(programs, &config));
}

static void print_on(bool chooses)
{
	if (chooses)
		printf("on: new connections use Prague where the peer has Accurate ECN\n");
	else
		printf("on: only programs that select it (TCP_CONGESTION, \"" PRAGUE_NAME
		       "\") use it: choose others by --unit, --cgroup, --netns or --default\n");
}

static bool turn_on(const struct selection *selection, int cgroup)
{
	struct programs programs;
	bool made, done;

	if (!pins_lock())
		return false;
	if (selection->no_classic_detection)
		printf("  WARNING: " NO_DETECTION_TEXT "\n");
	done = ensure_prague(&programs, &made) && apply(selection, cgroup, &programs);
	if (!done && made && programs_open(&programs) >= 0)
		undo_all(&programs);
	pins_remove_directory(""); /* made for the lock: if it is empty */
	if (done)
		print_on(cgroup >= 0 || selection->is_default);
	return done;
}

bool prague_on(const struct selection *selection)
{
	const bool is_for_others = selection->cgroup || selection->unit || selection->netns;
	int cgroup = -1;
	bool done;

	if (!bpffs_mount() || (selection->netns && !enter_netns(selection->netns)))
		return false;
	/* Before anything is changed. */
	if (!devices_exist(selection->devices))
		return false;
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

bool prague_off(bool if_any)
{
	struct programs programs;
	struct fallen fallen;
	int found;

	if (!pins_lock_if_any())
		return false;
	found = programs_open(&programs);
	if (found < 0)
		return false;
	found |= pin_exists(OPT_IN_PINS, "") > 0 || pin_exists(DEFAULT_PINS, "") > 0;
	fallen = undo_all(&programs);
	if (!found && !if_any)
		return fail(0, "nothing to undo: tcp-prague is not on");
	if (message_reported())
		return false;
	if (programs.registration < 0)
		printf("off\n");
	else
		printf("off: %d socket%s fell back to " PRAGUE_FALLBACK "\n",
		       fallen.before - fallen.left, fallen.before - fallen.left == 1 ? "" : "s");
	if (fallen.left)
		printf("  %d had nothing to receive: they respond as Reno, and fall back at their "
		       "next ACK\n",
		       fallen.left);
	return true;
}
