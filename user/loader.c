// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-load: attach bpf_dualpi2 to an interface, change it, take it away.
 *
 * First comes the registration of the qdisc kind, once per host, pinned (registration.h), then the
 * interface (directions.h): each step is undone if a later one fails.
 *
 * SIGKILL in between leaves pins behind, but no qdisc that misbehaves: the next run
 * finds them and goes on from there, or clears them away.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "aqm/strangers.h"
#include "attach/directions.h"
#include "check/host.h"
#include "check/report.h"
#include "cli/config.h"
#include "cli/config_dir.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "interface/device.h"
#include "interface/left_over.h"
#include "interface/target.h"
#include "kernel/default_qdisc.h"
#include "kernel/link.h"
#include "kernel/names.h"
#include "pinned/host_maps.h"
#include "pinned/pins.h"
#include "pinned/registration.h"
#include "show/outcome.h"

enum action {
	/* how it is attached */
	ACTION_AQM,
	ACTION_HANDLE,
	ACTION_MQ,
	ACTION_REPLACE,

	/* where, and what else is done */
	ACTION_EGRESS,
	ACTION_INGRESS,
	ACTION_CONFIG,
	ACTION_FIND_CONFIG,
	ACTION_UNLOAD,
	ACTION_IF_ATTACHED,
	ACTION_CHECK,

	N_ACTIONS, /* the parameters follow them */
};

_Static_assert(N_ACTIONS + PARAMS_MAX + OPTIONS_GENERAL <= OPTIONS_MAX, "too many options");

#define HOW "How to attach"
#define ACTIONS "Actions (default: attach, or change what is attached)"

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
		    "Exit status: 0 done, 1 failed (nothing is changed, unless only the output could\n"
		    "not be written), 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  dualpi2-load eth0                    at the speed of the device\n"
		    "  dualpi2-load eth0 --rate 40mbit      if the bottleneck is elsewhere\n"
		    "  dualpi2-load eth0 --target 10ms      change one parameter\n"
		    "  dualpi2-load eth0 --max-rtt 50ms     suited to RTTs up to 50 ms\n"
		    "  dualpi2-load eth0 limit 1000 any_ect step_thresh 5p     as in tc\n"
		    "  dualpi2-load eth0 --mq               one for each transmit queue\n"
		    "  dualpi2-load eth0 --mq --rate 2.5gbit    the same, and all share the rate\n"
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
		[ACTION_HANDLE] = { "handle", HOW,
				    "for rules that name its classes (skb->priority 1:1); another "
				    "one than it has replaces the attached qdisc, as --aqm does",
				    .places = PLACE_FILE | PLACE_WORD, .kind = KIND_HANDLE,
				    .min = 1, .max = QDISC_MAJOR_MAX },
		[ACTION_MQ] = { "mq", HOW, "one for each transmit queue; with --rate they share "
				"it, and drop as with --drop-enqueue",
				.places = PLACE_FILE },
		[ACTION_REPLACE] = { "replace", HOW,
				     "replace a configured root qdisc; --unload puts it back",
				     .places = PLACE_FILE },
		[ACTION_EGRESS] = { "egress", ACTIONS,
				    "outgoing traffic, which is meant without it; to unload: "
				    "leave incoming traffic as it is",
				    .kind = KIND_NONE, .excludes = 1 << ACTION_INGRESS },
		[ACTION_INGRESS] = { "ingress", ACTIONS,
				     "shape incoming traffic, with --rate, through an ifb device "
				     "(in-IFACE) that is created for it; to unload: leave "
				     "outgoing traffic as it is",
				     .kind = KIND_NONE, .excludes = 1 << ACTION_CONFIG },
		[ACTION_CONFIG] = { "config", ACTIONS,
				    "read options from a file, one per line, for one direction or "
				    "both (dualpi2.conf(5)); parameters not in it get their "
				    "defaults; of a directory, from the file for IFACE",
				    .kind = KIND_FILE, .words = "/etc/dualpi2/eth0.conf",
				    .excludes = 1 << ACTION_EGRESS },
		[ACTION_FIND_CONFIG] = { "find-config", ACTIONS,
					 "with --config of a directory: only print which file there "
					 "names IFACE, itself or by a pattern; 1 if none does",
					 .kind = KIND_NONE },
		[ACTION_UNLOAD] = { "unload", ACTIONS, "restore the interface, in both directions",
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

/* What a file has for incoming traffic, of the same options. */
static struct option_given incoming[OPTIONS_MAX];

/* What was given for it; NULL: nothing. */
static const char *given(enum action action)
{
	return command.given[action].text;
}

/* The parameters, those of each AQM under a heading of their own, and the names for --aqm. */
static void add_params(void)
{
	static char names[AQMS_MAX * 16];
	const char **heading = command.headings;
	size_t used = 0;

	while (*heading)
		heading++;
	for (size_t i = 0; aqm_is_listed(i); i++) {
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? "|" : "",
				 aqms[i]->name);
		*heading++ = aqms[i]->heading;
	}
	command.options[ACTION_AQM].words = names;
	memcpy(command.options + N_ACTIONS, params_all(), PARAMS_MAX * sizeof(*command.options));
}

/* ---- actions --------------------------------------------------------------------- */

/* Remove what is left of interfaces that are gone, then look whether this one may be changed, with
 * `ours` on it. False: it may not, or that is unknown, which is reported.
 */
static bool begin(const struct registrations *regs, const char *ifname, const struct tcx_ours *ours,
		  bool unloads)
{
	struct link link;
	int found = unloads ? link_look_for(ifname, &link) : 0;

	directions_sweep(regs, found > 0 ? (__u32)link.ifindex : 0, outcome_say);
	return !message_reported() && device_is_none(ifname) && target_is_known(regs, ifname, ours);
}

static bool attach(const char *ifname, const struct requests *requests)
{
	struct registrations regs, before;
	struct tcx_ours ours;
	bool done;

	if (!host_passes(HOST_ATTACH) || !bpffs_mount() || !default_qdisc_open() ||
	    !tcx_look_for_ours(ifname, &ours))
		return false;
	pins_keep_privilege(PRIVILEGE_LOAD | PRIVILEGE_NET |
			    (registrations_need_types() ? PRIVILEGE_TYPES : 0));
	if (!pins_lock())
		return false;
	if (!registrations_open(&regs)) {
		pins_remove_directory(""); /* made for the lock: if it is empty */
		return false;
	}
	pins_keep_privilege(PRIVILEGE_LOAD | PRIVILEGE_NET);
	before = regs;
	done = begin(&regs, ifname, &ours, false) &&
	       directions_attach(&regs, ifname, requests, outcome_say);
	host_maps_sweep(&regs);
	/* A kind that was unknown until now is hardly the default (default_qdisc.h). */
	for (size_t i = 0; !done && i < regs.count; i++) {
		if (!registration_is_open(&before.of[i]) && registration_is_open(&regs.of[i]) &&
		    registration_in_use(&regs.of[i]) <= 0)
			registration_remove(&regs.of[i]);
	}
	registrations_remove_unused(&regs);
	return done;
}

static bool unload(const char *ifname, const struct requests *requests)
{
	struct outcome outcome = { .ifname = ifname };
	const struct aqm *maybe_default;
	struct registrations regs;
	struct tcx_ours ours;
	struct link link;
	int exists;
	bool done;

	if (!host_passes(HOST_UNLOAD) || !pins_lock_if_any() || !default_qdisc_open() ||
	    !tcx_look_for_ours(ifname, &ours))
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	if (!registrations_open(&regs) || !begin(&regs, ifname, &ours, true))
		return false;
	exists = given(ACTION_IF_ATTACHED) ? link_look_for(ifname, &link) : 1;
	done = exists > 0 ? directions_unload(&regs, ifname, requests, &outcome) : !exists;
	maybe_default = registrations_remove_unused(&regs);
	if (done && !outcome.kind && !given(ACTION_IF_ATTACHED))
		fail(0, "%s: nothing to unload: %s%s", ifname,
		     requests->has[EGRESS] ? aqm_default()->kind : "--ingress",
		     requests->has[EGRESS] ? " is not attached to it" : " is not in use on it");
	done &= !message_reported();
	snprintf(outcome.label, sizeof(outcome.label), "%s", ifname);
	if (!done)
		outcome.kind = OUTCOME_NONE;
	else if (!outcome.kind)
		outcome.kind = OUTCOME_NOT_THERE;
	outcome.registered = done ? maybe_default : NULL;
	outcome_say(&outcome);
	return done;
}

static bool check_interface(const struct registrations *regs, const char *ifname,
			    const struct tcx_ours *ours, const struct requests *requests)
{
	struct link link;
	int found;

	if (!device_is_none(ifname))
		return false;
	found = link_look_for(ifname, &link);
	if (found <= 0)
		return !found && report_line(REPORT_MISSING, "interface %s: see `ip link`", ifname);
	report_line(REPORT_OK, "interface %s", ifname);
	return target_is_known(regs, ifname, ours) &&
	       directions_check(regs, ifname, &link, requests);
}

/* `ifname`: NULL if none is named. */
static bool check(const char *ifname, const struct requests *requests)
{
	static struct ifbs ifbs; /* too large for the stack */
	struct registrations regs;
	struct tcx_ours ours = {};
	bool passed;

	report_begin();
	passed = host_passes(HOST_REPORT);
	if ((!passed && !ifname) || !pins_were_seen() ||
	    (ifname && !tcx_look_for_ours(ifname, &ours)))
		return false;
	pins_keep_privilege(PRIVILEGE_NET);
	if (!registrations_open(&regs))
		return false;
	if (passed && ifbs_read(&regs, &ifbs))
		left_over_each(&regs, &ifbs, report_hint);
	return (!ifname || check_interface(&regs, ifname, &ours, requests)) && passed;
}

/* ---- command line ------------------------------------------------------------ */

/* Rules that are about more than one argument. */
static bool arguments_agree(const char *ifname)
{
	bool others = params_given(command.given + N_ACTIONS) || given(ACTION_AQM) ||
		      given(ACTION_HANDLE) || given(ACTION_REPLACE) || given(ACTION_CHECK) ||
		      given(ACTION_MQ) || given(ACTION_CONFIG);

	if (!ifname && !given(ACTION_CHECK))
		return fail(0, "an interface is missing (see dualpi2-load --help)");
	if (given(ACTION_UNLOAD) && others)
		return fail(0, "--unload: takes no other option than --egress, --ingress, "
			       "--if-attached and -v");
	if (given(ACTION_IF_ATTACHED) && !given(ACTION_UNLOAD))
		return fail(0, "--if-attached: only with --unload");
	if (given(ACTION_FIND_CONFIG) &&
	    (!ifname || !given(ACTION_CONFIG) || !config_is_dir(given(ACTION_CONFIG))))
		return fail(0, "--find-config: needs IFACE, and --config of a directory");
	return true;
}

/* What the options say that were given, on the command line or in a file. */
static bool make_request(const struct option_given *options, enum direction direction,
			 struct request *request)
{
	*request = (struct request){
		.params = options + N_ACTIONS,
		.aqm = options[ACTION_AQM].text ? aqms[options[ACTION_AQM].value] : NULL,
		.handle = options[ACTION_HANDLE].value << 16,
		.mq = options[ACTION_MQ].text,
		.replace = options[ACTION_REPLACE].text,
		.whole = given(ACTION_CONFIG),
	};
	return request_agrees(request, direction);
}

/* An option of the command line is about outgoing traffic. */
static bool none_is_settled(const char *path)
{
	for (const struct option_spec *spec = command.options; option_exists(spec); spec++) {
		if (command.given[spec - command.options].is_settled && spec->places & PLACE_FILE)
			return fail(0,
				    "--%s: not beside %s, which is about incoming traffic, too: "
				    "put it there",
				    spec->name, path);
	}
	return true;
}

/* What a file has, and the command line beside it. */
static bool requests_from_file(const char *path, struct requests *requests)
{
	struct config_part parts[] = {
		[EGRESS] = { .name = direction_name(EGRESS),
			     .command = &command,
			     .given = command.given },
		[INGRESS] = { .name = direction_name(INGRESS),
			      .command = &command,
			      .given = incoming },
		[N_DIRECTIONS] = {},
	};
	bool agrees = config_read(parts, path);

	requests->whole = true;
	if (agrees && parts[INGRESS].is_there)
		agrees = none_is_settled(path);
	message_set_place("%s", path);
	for (int i = 0; agrees && i < N_DIRECTIONS; i++) {
		requests->has[i] = parts[i].is_there;
		agrees = !requests->has[i] || make_request(parts[i].given, i, &requests->of[i]);
	}
	message_set_place(NULL);
	return agrees;
}

/* The file that --config means. */
static bool find_file(const char *ifname, char file[PATH_MAX])
{
	const char *path = given(ACTION_CONFIG);

	if (!config_is_dir(path))
		return snprintf(file, PATH_MAX, "%s", path) < PATH_MAX ||
		       fail(0, "--config: the name is too long");
	if (!ifname)
		return fail(0, "--config %s: is a directory: say of which interface", path);
	return names_find_file(ifname, path, !given(ACTION_FIND_CONFIG), file);
}

static bool make_requests(const char *ifname, struct requests *requests)
{
	static char file[PATH_MAX];
	bool agrees = true;

	*requests = (struct requests){
		.has[EGRESS] = !given(ACTION_INGRESS),
		.has[INGRESS] =
			given(ACTION_INGRESS) || (given(ACTION_UNLOAD) && !given(ACTION_EGRESS)),
	};
	if (given(ACTION_CONFIG))
		return find_file(ifname, file) && requests_from_file(file, requests);
	for (int i = 0; agrees && i < N_DIRECTIONS; i++)
		agrees = !requests->has[i] || make_request(command.given, i, &requests->of[i]);
	return agrees;
}

/* --find-config: the path unchanged, because programs read it. */
static bool print_file(const char *ifname)
{
	char file[PATH_MAX];

	return find_file(ifname, file) && puts(file) >= 0;
}

int main(int argc, char **argv)
{
	struct requests requests;
	enum status status;
	const char *ifname;
	bool done;

	message_init(command.name);
	add_params();
	if (!command_read(&command, argc, argv, &status))
		return status;
	ifname = command_given(&command, "interface");
	if (!arguments_agree(ifname))
		return STATUS_USAGE;
	if (given(ACTION_FIND_CONFIG))
		return print_file(ifname) ? STATUS_OK : STATUS_FAILURE;
	if (!make_requests(ifname, &requests))
		return STATUS_USAGE;
	/* What was done before a failure stands before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* A run is short; being interrupted in the middle of it helps nobody. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT | PRIVILEGE_LOAD | PRIVILEGE_NET);
	if (given(ACTION_CHECK))
		done = check(ifname, &requests);
	else
		done = given(ACTION_UNLOAD) ? unload(ifname, &requests) : attach(ifname, &requests);
	return done ? STATUS_OK : message_status();
}
