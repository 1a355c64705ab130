// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-load: attach bpf_dualpi2 to an interface, change it, take it away.
 *
 * Attaching goes in steps, each of which is undone if a later one fails:
 *
 *	registration	the qdisc kind, once per host, pinned (registration.h)
 *	dualpi2_prior	remember the root qdisc that has to go (--replace)
 *	dualpi2_conf	parameters, for the qdisc to start with
 *	tcx		the program that classifies and marks, pinned (instance.h)
 *	qdisc		last: from here on packets go through it
 *
 * SIGKILL in between leaves pins behind, but no qdisc that misbehaves: the next run
 * finds them and goes on from there, or clears them away.
 */
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "instance.h"
#include "message.h"
#include "netlink.h"
#include "options.h"
#include "params.h"
#include "pins.h"
#include "registration.h"
#include "root.h"

enum action {
	ACTION_REPLACE,
	ACTION_UNLOAD,
	ACTION_CHECK,
	N_ACTIONS,
};

static const struct option_spec action_specs[N_ACTIONS] = {
	[ACTION_REPLACE] = { .name = "replace",
			     .help = "take the place of a root qdisc that somebody\n"
				     "configured; --unload puts it back" },
	[ACTION_UNLOAD] = { .name = "unload", .help = "put the interface back as it was" },
	[ACTION_CHECK] = { .name = "check",
			   .help = "tell whether all would work, changing nothing;\n"
				   "without IFACE: on this host" },
};

static const char *params[N_PARAMS]; /* as given on the command line */
static const char *actions[N_ACTIONS];

static struct option_group groups[] = {
	{ "Shaper (default)", param_specs, PARAM_TC_FIRST, params, true },
	{ "Parameters that tc has for dualpi2 (default)", param_specs + PARAM_TC_FIRST,
	  PARAM_OWN_FIRST - PARAM_TC_FIRST, params + PARAM_TC_FIRST, true },
	{ "Parameters of our own (default)", param_specs + PARAM_OWN_FIRST,
	  N_PARAMS - PARAM_OWN_FIRST, params + PARAM_OWN_FIRST, true },
	{ "Actions (default: attach, or change what is attached)", action_specs, N_ACTIONS, actions,
	  false },
};

static const struct foreign_word foreign_words[] = {
	{ "split_gso", "GSO packets are not split yet: leave it out, and see the README" },
	{ "no_split_gso", NULL },
	{ NULL, NULL },
};

static const struct command command = {
	.name = "dualpi2-load",
	.synopsis = "IFACE [OPTIONS]",
	.about = "Attach the qdisc bpf_dualpi2 (DualPI2, RFC 9332) to the root of an interface.\n"
		 "Where it is attached already, the parameters given change the live qdisc, the\n"
		 "others stay, and no packet is lost. Parameters may be spelled as tc does, too:\n"
		 "`target 10ms any_ect` is `--target 10ms --any-ect`.\n",
	.epilogue = "RATE: 40mbit, 1.5gbit, 500kibit, or bytes: 5mbps. TIME: 15ms, 500us, 1s.\n"
		    "BYTES: 64k, 30m. A bare number is bit/s, microseconds, bytes.\n"
		    "\n"
		    "Exit status: 0 done, 1 failed (nothing is changed), 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  dualpi2-load eth0                    at the speed of the device\n"
		    "  dualpi2-load eth0 --rate 40mbit      where the bottleneck is elsewhere\n"
		    "  dualpi2-load eth0 --target 10ms      change one parameter\n"
		    "  dualpi2-load eth0 --max-rtt 50ms     what suits RTTs up to 50 ms\n"
		    "  dualpi2-load eth0 limit 1000 any_ect step_thresh 5p     as tc has it\n"
		    "  dualpi2-load eth0 --unload\n",
	.groups = groups,
	.n_groups = sizeof(groups) / sizeof(groups[0]),
	.foreign_words = foreign_words,
};

/* Put the parameters of the command line into `wanted`. */
static bool apply_params(struct dualpi2_params *wanted)
{
	char why[PARAMS_WHY_MAX];

	return params_apply(params, wanted, why) || fail(0, "%s", why);
}

/* The interface to work on. */
struct target {
	const char *ifname;
	struct dualpi2_key key; /* of the root qdisc */
	struct qdisc root;
};

static bool find_interface(const char *ifname, struct target *target)
{
	*target = (struct target){ .ifname = ifname, .key.parent = TC_H_ROOT };
	return interface_index(ifname, &target->key.ifindex) && current_netns(&target->key.netns);
}

/* ---- attach ------------------------------------------------------------------ */

/* May the root qdisc go? A foreign one: only with --replace, and if it can be put
 * back.
 */
static bool may_replace(const struct target *target)
{
	char text[QDISC_TEXT_MAX], why[ROOT_WHY_MAX];
	bool restorable;

	if (root_owner(&target->root) != ROOT_FOREIGN)
		return true;
	qdisc_text(&target->root, text);
	if (!actions[ACTION_REPLACE])
		return fail(0, "%s: somebody configured its root: `%s`; --replace takes its place",
			    target->ifname, text);
	if (!root_restorable(target->key.ifindex, &target->root, &restorable, why))
		return false;
	if (!restorable)
		return fail(0,
			    "%s: --unload could not put back `%s` with %s: note it, then "
			    "`tc qdisc del dev %s root`",
			    target->ifname, text, why, target->ifname);
	return true;
}

/* Our kind, but not in the maps of this registration: its own one has been deleted by
 * hand. It takes no more changes, so a new one takes its place.
 */
static bool is_orphan(const struct registration *reg, const struct target *target)
{
	struct dualpi2_stats stats;

	return root_owner(&target->root) == ROOT_OURS && !stats_read(reg, &target->key, &stats);
}

static bool create_qdisc(const struct registration *reg, const struct target *target)
{
	/* From the range that the kernel itself takes handles from. */
	const __u32 first_handle = 0x8001U << 16, second_handle = 0x8002U << 16;
	struct qdisc qdisc = { .kind = DUALPI2_KIND };
	bool orphan = is_orphan(reg, target);

	if (registration_full(reg))
		return fail(0,
			    "%s: %u qdiscs of the kind live on this host, no more are possible: "
			    "unload one",
			    target->ifname, DUALPI2_MAX_INSTANCES);
	/* The same kind under the same handle would be a change, which BPF qdiscs
	 * do not have.
	 */
	if (orphan)
		qdisc.handle = target->root.handle == first_handle ? second_handle : first_handle;
	return qdisc_create(target->key.ifindex, &qdisc, orphan || actions[ACTION_REPLACE]);
}

/* The steps after the registration. attach_new() undoes them if this returns false. */
static bool attach_steps(const struct registration *reg, const struct target *target,
			 const struct dualpi2_params *wanted)
{
	if (root_owner(&target->root) == ROOT_FOREIGN &&
	    !prior_write(reg, &target->key, &target->root))
		return false;
	return conf_write(reg, &target->key, wanted) && tcx_attach(reg, &target->key) &&
	       create_qdisc(reg, target);
}

static bool attach_new(const struct registration *reg, const struct target *target)
{
	struct dualpi2_params wanted = DUALPI2_DEFAULT_PARAMS;
	const char *shown[N_PARAMS];
	char text[512];

	if (!may_replace(target) || !apply_params(&wanted))
		return false;
	/* What is left from an earlier time with us on this interface. */
	instance_forget(reg, &target->key);
	if (!attach_steps(reg, target, &wanted)) {
		tcx_detach(&target->key);
		instance_forget(reg, &target->key);
		return false;
	}
	memcpy(shown, params, sizeof(shown));
	shown[PARAM_RATE] = shown[PARAM_TARGET] = "";
	printf("%s: " DUALPI2_KIND " attached%s\n", target->ifname,
	       params_describe(shown, &wanted, text, sizeof(text)));
	return true;
}

/* ---- change ------------------------------------------------------------------ */

/* Change the parameters of a live qdisc, and what it starts with next time. */
static bool apply_change(const struct registration *reg, const struct target *target,
			 const struct dualpi2_params *wanted)
{
	struct dualpi2_params before;
	bool had_conf = conf_read(reg, &target->key, &before);

	if (!conf_write(reg, &target->key, wanted))
		return false;
	if (params_change(reg, &target->key, wanted))
		return true;
	if (had_conf)
		conf_write(reg, &target->key, &before);
	return false;
}

static bool change_live(const struct registration *reg, const struct target *target,
			const struct dualpi2_params *in_force)
{
	bool repair = !tcx_attached(reg, &target->key);
	struct dualpi2_params wanted = *in_force;
	char text[512];

	if (!apply_params(&wanted))
		return false;
	if (repair && !tcx_attach(reg, &target->key))
		return false;
	if (params_given(params) && !apply_change(reg, target, &wanted)) {
		if (repair)
			tcx_detach(&target->key);
		return false;
	}
	if (params_given(params))
		printf("%s: " DUALPI2_KIND " changed%s%s\n", target->ifname,
		       params_describe(params, &wanted, text, sizeof(text)),
		       repair ? "; its tcx program attached again" : "");
	else if (repair)
		printf("%s: " DUALPI2_KIND " repaired: its tcx program was not attached\n",
		       target->ifname);
	else
		printf("%s: " DUALPI2_KIND " is attached already, nothing changed\n",
		       target->ifname);
	return true;
}

static bool attach_or_change(const struct registration *reg, struct target *target)
{
	struct dualpi2_stats live;

	instances_sweep(reg);
	if (!qdisc_root(target->key.ifindex, &target->root))
		return false;
	if (root_owner(&target->root) == ROOT_OURS && stats_read(reg, &target->key, &live))
		return change_live(reg, target, &live.params);
	return attach_new(reg, target);
}

static bool attach(const char *ifname)
{
	struct registration reg;
	struct target target;
	bool found, done;

	if (!find_interface(ifname, &target) || !checks_host(false) || !pins_mount_bpffs() ||
	    !pins_lock())
		return false;
	/* Refuse before the registration is made, which takes a second. */
	if (!qdisc_root(target.key.ifindex, &target.root) || !may_replace(&target)) {
		pins_remove_directory();
		return false;
	}
	if (!registration_open(&reg, &found))
		return false;
	if (!found && !registration_make(&reg))
		return false;
	done = attach_or_change(&reg, &target);
	if (!done && reg.made_here && !registration_in_use(&reg))
		registration_remove(&reg);
	return done;
}

/* ---- unload ------------------------------------------------------------------ */

/* Take our qdisc from the root: the remembered one takes its place, or the kernel's
 * automatic one.
 */
static bool remove_qdisc(const struct registration *reg, const struct target *target)
{
	static const struct qdisc placeholder = { .kind = "pfifo" };
	struct qdisc prior, now;

	/* An automatic qdisc, of net.core.default_qdisc, cannot be deleted, only
	 * replaced. Then the kernel chooses anew.
	 */
	if (!TC_H_MAJ(target->root.handle) &&
	    !qdisc_create(target->key.ifindex, &placeholder, true))
		return false;
	if (reg && prior_read(reg, &target->key, &prior)) {
		if (!qdisc_create(target->key.ifindex, &prior, true))
			return false;
	} else if (!qdisc_delete(target->key.ifindex)) {
		return false;
	}
	if (!qdisc_root(target->key.ifindex, &now))
		return false;
	if (root_owner(&now) == ROOT_OURS)
		return fail(0,
			    "%s: the kernel attached " DUALPI2_KIND " again, as its default: "
			    "first `sysctl net.core.default_qdisc=fq_codel`",
			    target->ifname);
	return true;
}

/* `reg` is NULL if the kind is not registered. */
static bool detach(const struct registration *reg, struct target *target)
{
	bool had_tcx, ours;

	if (!qdisc_root(target->key.ifindex, &target->root))
		return false;
	ours = root_owner(&target->root) == ROOT_OURS;
	if (ours && !remove_qdisc(reg, target))
		return false;
	had_tcx = tcx_detach(&target->key);
	if (reg)
		instance_forget(reg, &target->key);
	if (!ours && !had_tcx)
		return fail(0, "%s: nothing to unload: " DUALPI2_KIND " is not attached to it",
			    target->ifname);
	printf("%s: unloaded\n", target->ifname);
	return true;
}

static bool unload(const char *ifname)
{
	struct registration reg;
	struct target target;
	bool found, done;

	if (!find_interface(ifname, &target) || !checks_rights())
		return false;
	if (!pins_have_bpffs() || !pins_directory_exists())
		return detach(NULL, &target);
	if (!pins_lock() || !registration_open(&reg, &found))
		return false;
	if (found)
		instances_sweep(&reg);
	done = detach(found ? &reg : NULL, &target);
	if (!found || !registration_in_use(&reg))
		registration_remove(&reg);
	return done;
}

/* ---- check ------------------------------------------------------------------- */

static bool check_root(const char *ifname)
{
	char text[QDISC_TEXT_MAX], why[ROOT_WHY_MAX];
	struct target target;
	bool restorable;

	target.key.ifindex = if_nametoindex(ifname);
	if (!target.key.ifindex) {
		printf("MISSING  interface %s: see `ip link`\n", ifname);
		return false;
	}
	printf("ok       interface %s\n", ifname);
	if (!qdisc_root(target.key.ifindex, &target.root))
		return false;
	qdisc_text(&target.root, text);
	switch (root_owner(&target.root)) {
	case ROOT_AUTOMATIC:
		printf("ok       its root qdisc is the kernel's automatic one\n");
		return true;
	case ROOT_OURS:
		printf("ok       its root qdisc is " DUALPI2_KIND " already\n");
		return true;
	case ROOT_FOREIGN:
		break;
	}
	if (!root_restorable(target.key.ifindex, &target.root, &restorable, why))
		return false;
	if (restorable)
		printf("%s somebody configured its root: `%s`%s\n",
		       actions[ACTION_REPLACE] ? "ok      " : "MISSING ", text,
		       actions[ACTION_REPLACE] ? "" : ": --replace takes its place");
	else
		printf("MISSING  --unload could not put back `%s` with %s: "
		       "`tc qdisc del dev %s root`\n",
		       text, why, ifname);
	return restorable && actions[ACTION_REPLACE];
}

static bool check(const char *ifname)
{
	bool passed = checks_host(true);

	return (!ifname || check_root(ifname)) && passed;
}

/* ---- command line ------------------------------------------------------------ */

/* Rules that are about more than one argument. */
static bool arguments_agree(const char *ifname)
{
	struct dualpi2_params scratch = DUALPI2_DEFAULT_PARAMS;
	bool alone = actions[ACTION_UNLOAD];

	if (!ifname && !actions[ACTION_CHECK])
		return fail(0, "an interface is missing (see dualpi2-load --help)");
	if (alone && (params_given(params) || actions[ACTION_REPLACE] || actions[ACTION_CHECK]))
		return fail(0, "--unload: takes no other option than -v");
	return apply_params(&scratch);
}

/* A run is short; being interrupted in the middle of it helps nobody. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	const char *ifname;
	bool done;

	message_init(command.name);
	switch (command_read(&command, argc, argv, &ifname)) {
	case COMMAND_DONE:
		return STATUS_OK;
	case COMMAND_WRONG:
		return STATUS_USAGE;
	case COMMAND_RUN:
		break;
	}
	if (!arguments_agree(ifname))
		return STATUS_USAGE;
	block_signals();
	if (actions[ACTION_CHECK])
		done = check(ifname);
	else
		done = actions[ACTION_UNLOAD] ? unload(ifname) : attach(ifname);
	return done ? STATUS_OK : STATUS_FAILURE;
}
