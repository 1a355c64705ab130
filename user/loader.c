// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-load: attach bpf_dualpi2 to an interface, change it, take it away.
 *
 * First comes the registration of the qdisc kind, once per host, pinned
 * (registration.h), then the interface (root.c): each step is undone if a later one
 * fails.
 *
 * SIGKILL in between leaves pins behind, but no qdisc that misbehaves: the next run
 * finds them and goes on from there, or clears them away.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "attach/gso.h"
#include "attach/ingress.h"
#include "attach/root.h"
#include "check/host.h"
#include "check/interface.h"
#include "check/report.h"
#include "cli/config.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "kernel/default_qdisc.h"
#include "kernel/link.h"
#include "pinned/maps.h"
#include "pinned/pins.h"
#include "pinned/registration.h"
#include "pinned/tcx.h"

enum action {
	/* how it is attached */
	ACTION_AQM,
	ACTION_MQ,
	ACTION_REPLACE,

	/* where, and what else is done */
	ACTION_INGRESS,
	ACTION_CONFIG,
	ACTION_UNLOAD,
	ACTION_IF_ATTACHED,
	ACTION_CHECK,

	N_ACTIONS, /* the parameters follow them */
};

_Static_assert(N_ACTIONS + PARAMS_MAX + OPTIONS_GENERAL <= OPTIONS_MAX, "too many options");

#define HOW "How to attach"
#define ACTIONS "Actions (default: attach, or change what is attached)"

/* Of tc and cake. */
static const struct stranger strangers[] = {
	{ "dev", "leave out dev" },
	{ "root", "leave it out, the root is meant" },
	{ "bandwidth", "did you mean --rate?" },
	{ "unlimited", "did you mean --rate 0?" },
	{ "rtt", "did you mean --max-rtt?" },
	{},
};

static struct command command = {
	.name = "dualpi2-load",
	.synopsis = "IFACE [OPTIONS]",
	.words = { { "interface", .is_word = true, .kind = KIND_FILE, .words = "eth0" } },
	.about = "Attach the qdisc bpf_dualpi2 (DualPI2, RFC 9332) to the root of an interface.\n"
		 "If it is already attached, the given parameters change the live qdisc, the\n"
		 "others stay, and no packet is lost. Parameters may be spelled as in tc:\n"
		 "`target 10ms any_ect` is `--target 10ms --any-ect`.\n",
	.epilogue = "RATE: 40mbit, 1.5gbit, 500kibit, or bytes: 5mbps. TIME: 15ms, 500us, 1s.\n"
		    "BYTES: 64k, 30m. A bare number is bit/s, microseconds, bytes.\n"
		    "\n"
		    "Exit status: 0 done, 1 failed (nothing is changed), 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  dualpi2-load eth0                    at the speed of the device\n"
		    "  dualpi2-load eth0 --rate 40mbit      if the bottleneck is elsewhere\n"
		    "  dualpi2-load eth0 --target 10ms      change one parameter\n"
		    "  dualpi2-load eth0 --max-rtt 50ms     suited to RTTs up to 50 ms\n"
		    "  dualpi2-load eth0 limit 1000 any_ect step_thresh 5p     as in tc\n"
		    "  dualpi2-load eth0 --mq               one for each hardware queue\n"
		    "  dualpi2-load eth0 --ingress --rate 95mbit    a download link of 100mbit\n"
		    "  dualpi2-load eth0 --config /etc/dualpi2/eth0.conf\n"
		    "  dualpi2-load eth0 --unload\n",
	.headings = { PARAMS_SHAPER, PARAMS_TC, PARAMS_OWN, HOW, ACTIONS },
	.strangers = strangers,
	.options = {
		[ACTION_AQM] = { "aqm", HOW,
				 "the AQM (that of the attached qdisc, else the first one here); "
				 "another one replaces the attached qdisc, and drops the packets "
				 "that wait in it",
				 .places = PLACE_FILE, .kind = KIND_CHOICE },
		[ACTION_MQ] = { "mq", HOW, "one for each transmit queue; not with --rate",
				.places = PLACE_FILE },
		[ACTION_REPLACE] = { "replace", HOW,
				     "replace a configured root qdisc; --unload puts it back",
				     .places = PLACE_FILE },
		[ACTION_INGRESS] = { "ingress", ACTIONS,
				     "shape incoming traffic, with --rate, through an ifb device "
				     "(in-IFACE) that is created for it",
				     .kind = KIND_NONE },
		[ACTION_CONFIG] = { "config", ACTIONS,
				    "read options from a file, one per line (dualpi2.conf(5)); "
				    "parameters not in it get their defaults",
				    .kind = KIND_FILE, .words = "/etc/dualpi2/eth0.conf" },
		[ACTION_UNLOAD] = { "unload", ACTIONS, "restore the interface",
				    .kind = KIND_NONE },
		[ACTION_IF_ATTACHED] = { "if-attached", ACTIONS,
					 "with --unload: succeed even if there is nothing to "
					 "restore, or IFACE is gone",
					 .kind = KIND_NONE },
		[ACTION_CHECK] = { "check", ACTIONS,
				   "check whether everything would work, without changing "
				   "anything; without IFACE: on this host",
				   .kind = KIND_NONE },
	},
};

/* What was given for it; NULL: nothing. */
static const char *given(enum action action)
{
	return command.options[action].given;
}

/* The parameters, with those of each AQM under a heading of their own, and their names for --aqm.
 */
static void add_params(void)
{
	static char names[AQMS_MAX * 16];
	const char **heading = command.headings;
	size_t used = 0;

	while (*heading)
		heading++;
	for (size_t i = 0; aqms[i]; i++) {
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? "|" : "",
				 aqms[i]->name);
		*heading++ = aqms[i]->heading;
	}
	command.options[ACTION_AQM].words = names;
	memcpy(command.options + N_ACTIONS, params_all(), PARAMS_MAX * sizeof(*command.options));
}

/* ---- what is asked for, on the root or on what arrives --------------------------- */

/* Have the AQM registered, then give up the right to load: nothing else is loaded. */
static bool have_registration(struct registrations *regs, const struct aqm *aqm)
{
	struct registration *reg = registration_of(regs, aqm);

	if (!registration_is_open(reg) && !registration_make(reg, host_refused))
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	return true;
}

/* Freed at the end of its block; target_find() comes first. */
#define TARGET struct target __attribute__((cleanup(target_free)))

static bool attach_root(struct registrations *regs, const char *ifname, const struct wish *wish)
{
	TARGET target;

	/* Refuse before the registration is made, which takes a second. */
	return target_find(ifname, &target) && target_allowed(&target, wish) &&
	       have_registration(regs, target_aqm(&target, wish)) &&
	       root_attach(regs, &target, wish);
}

static bool attach_ingress(struct registrations *regs, const char *ifname, const struct wish *wish)
{
	struct ingress ingress;

	return ingress_find(ifname, &ingress) && ingress_allowed(regs, &ingress, wish) &&
	       have_registration(regs, ingress_aqm(&ingress, wish)) &&
	       ingress_attach(regs, &ingress, wish);
}

static bool unload_root(const struct registrations *regs, const char *ifname, bool *found)
{
	TARGET target;

	return target_find(ifname, &target) && root_undo(regs, &target, found);
}

static bool unload_ingress(const struct registrations *regs, const char *ifname, bool *found)
{
	struct ingress ingress;

	return ingress_find(ifname, &ingress) && ingress_undo(regs, &ingress, found);
}

/* `found`: was there anything to put back? */
static bool unload_interface(const struct registrations *regs, const char *ifname,
			     const struct wish *wish, bool *found)
{
	struct link link;
	int exists;

	*found = false;
	exists = given(ACTION_IF_ATTACHED) ? link_look_for(ifname, &link) : 1;
	if (exists <= 0)
		return !exists;
	return wish->ingress ? unload_ingress(regs, ifname, found)
			     : unload_root(regs, ifname, found);
}

/* What would be in force: what is already, and what is wished. */
static bool wanted_params(const struct registrations *regs, const struct target *target,
			  const struct wish *wish, struct dualpi2_params *wanted)
{
	const struct aqm *now = tree_aqm(&target->tree), *aqm = target_aqm(target, wish);
	int known = 0;

	*wanted = params_default(aqm);
	if (now)
		known = conf_read(registration_of(regs, now), &target->key, wanted);
	if (expect_known(known, "the parameters of %s", target->label) < 0)
		return false;
	if (now != aqm)
		wish_take_over(aqm, wanted);
	return wish_apply(wish, aqm, wanted);
}

/* What an interface that may have it will do with it. */
static bool check_use(const struct target *target, const struct link *link, const struct wish *wish)
{
	bool is_mq = tree_owner(&target->tree) == OWNER_US && tree_is_mq(&target->tree);
	struct dualpi2_params wanted;
	struct registrations regs;

	if (!registrations_open(&regs) || !wanted_params(&regs, target, wish, &wanted) ||
	    !target_check_room(registration_of(&regs, target_aqm(target, wish)), target, link,
			       wish))
		return false;
	wish_report(wish, target_aqm(target, wish), &wanted);
	interface_report(link, target_aqm(target, wish), &wanted, wish->mq || is_mq);
	return !wanted.split_gso || gso_check(target);
}

static bool check_root(const struct link *link, const char *ifname, const struct wish *wish)
{
	TARGET target;

	return target_find(ifname, &target) && target_check(&target, wish) &&
	       check_use(&target, link, wish);
}

static bool check_ingress(const char *ifname, const struct wish *wish)
{
	struct registrations regs;
	struct ingress ingress;

	return registrations_open(&regs) && ingress_find(ifname, &ingress) &&
	       ingress_check(&regs, &ingress, wish);
}

/* ---- actions --------------------------------------------------------------------- */

/* Clear away what belongs to interfaces that are gone. Where it could not look the run is to end,
 * for nothing is changed yet.
 */
static bool sweep(const struct registrations *regs)
{
	ingress_sweep(regs);
	gso_sweep(regs);
	targets_sweep(regs);
	return !message_reported();
}

static bool attach(const char *ifname, const struct wish *wish)
{
	struct registrations regs, before;
	bool done;

	if (!host_passes(HOST_ATTACH) || !pins_mount_bpffs() || !default_qdisc_open())
		return false;
	pins_keep_privilege(PRIVILEGE_LOAD | PRIVILEGE_NET);
	if (!pins_lock())
		return false;
	if (!registrations_open(&regs)) {
		pins_remove_directory(""); /* made for the lock: if it is empty */
		return false;
	}
	before = regs;
	done = sweep(&regs) && (wish->ingress ? attach_ingress(&regs, ifname, wish)
					      : attach_root(&regs, ifname, wish));
	/* A kind that was unknown until now is hardly the default (default_qdisc.h). */
	for (size_t i = 0; !done && i < regs.count; i++) {
		if (!registration_is_open(&before.of[i]) && registration_is_open(&regs.of[i]) &&
		    registration_in_use(&regs.of[i]) <= 0)
			registration_remove(&regs.of[i]);
	}
	registrations_remove_unused(&regs);
	return done;
}

static bool unload(const char *ifname, const struct wish *wish)
{
	const struct aqm *maybe_default;
	struct registrations regs;
	bool attached, done;

	if (!host_passes(HOST_UNLOAD) || !pins_lock_if_any() || !default_qdisc_open())
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	if (!registrations_open(&regs) || !sweep(&regs))
		return false;
	done = unload_interface(&regs, ifname, wish, &attached);
	maybe_default = registrations_remove_unused(&regs);
	if (done && !attached && !given(ACTION_IF_ATTACHED))
		fail(0, "%s: nothing to unload: %s%s", ifname,
		     wish->ingress ? "--ingress" : aqm_default()->kind,
		     wish->ingress ? " is not in use on it" : " is not attached to it");
	done &= !message_reported();
	if (done)
		printf("%s: %s\n", ifname, attached ? "unloaded" : "nothing to unload");
	if (done && maybe_default)
		printf("  %s stays registered: whether it is net.core.default_qdisc cannot be seen "
		       "from here.\n"
		       "  If not, `rm -r " PIN_DIR "*` ends it, or the next --unload by root\n",
		       maybe_default->kind);
	return done;
}

static bool check(const char *ifname, const struct wish *wish)
{
	struct link link;
	bool passed;
	int found;

	report_begin();
	passed = host_passes(HOST_REPORT);
	pins_keep_privilege(PRIVILEGE_NET);
	if (!ifname)
		return passed;
	found = link_look_for(ifname, &link);
	if (found <= 0)
		return !found && report_line(REPORT_MISSING, "interface %s: see `ip link`", ifname);
	report_line(REPORT_OK, "interface %s", ifname);
	return (wish->ingress ? check_ingress(ifname, wish) : check_root(&link, ifname, wish)) &&
	       passed;
}

/* ---- command line ------------------------------------------------------------ */

/* Rules that are about more than one argument. */
static bool arguments_agree(const char *ifname)
{
	bool others = params_given(command.options) || given(ACTION_AQM) || given(ACTION_REPLACE) ||
		      given(ACTION_CHECK) || given(ACTION_MQ) || given(ACTION_CONFIG);

	if (!ifname && !given(ACTION_CHECK))
		return fail(0, "an interface is missing (see dualpi2-load --help)");
	if (given(ACTION_UNLOAD) && others)
		return fail(0, "--unload: takes no other option than --ingress, --if-attached "
			       "and -v");
	if (given(ACTION_IF_ATTACHED) && !given(ACTION_UNLOAD))
		return fail(0, "--if-attached: only with --unload");
	return true;
}

/* Those that are about options that a file may have. */
static bool wish_agrees(const struct wish *wish)
{
	if (wish->mq && wish_has_rate(wish))
		return fail(0, "--rate: not with --mq, each queue would send at the full rate");
	if (wish->mq && wish->ingress)
		return fail(0, "--mq: not with --ingress, an ifb has one queue");
	if (wish->ingress && option_named(command.options, "rate")->given && !wish_has_rate(wish))
		return fail(0, "--rate 0: not with --ingress, without a rate nothing waits there");
	return wish_fits(wish, wish->aqm);
}

/* Options from a file, if one is given, beside those of the command line. */
static bool make_wish(struct wish *wish)
{
	const char *path = given(ACTION_CONFIG);
	const struct option_spec *aqm = &command.options[ACTION_AQM];
	uint64_t place;
	bool agrees;

	if (path && !config_read(&command, path))
		return false;
	*wish = (struct wish){
		.params = command.options,
		.aqm = aqm->given && value_read(aqm, aqm->given, &place) == VALUE_OK ? aqms[place]
										     : NULL,
		.mq = given(ACTION_MQ),
		.ingress = given(ACTION_INGRESS),
		.replace = given(ACTION_REPLACE),
		.whole = path,
	};
	message_set_place(path ? "%s" : NULL, path);
	agrees = wish_agrees(wish);
	message_set_place(NULL);
	return agrees;
}

int main(int argc, char **argv)
{
	struct wish wish;
	enum status status;
	const char *ifname;
	bool done;

	message_init(command.name);
	add_params();
	if (!command_read(&command, argc, argv, &status))
		return status;
	ifname = command_given(&command, "interface");
	if (!arguments_agree(ifname) || !make_wish(&wish))
		return STATUS_USAGE;
	/* A run is short; being interrupted in the middle of it helps nobody. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT | PRIVILEGE_LOAD | PRIVILEGE_NET);
	if (given(ACTION_CHECK))
		done = check(ifname, &wish);
	else
		done = given(ACTION_UNLOAD) ? unload(ifname, &wish) : attach(ifname, &wish);
	return done ? STATUS_OK : message_status();
}
