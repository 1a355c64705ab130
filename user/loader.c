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
#include "attach/actions.h"
#include "cli/config.h"
#include "cli/config_dir.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "kernel/link.h"
#include "kernel/names.h"
#include "kernel/qdisc.h"
#include "show/outcome.h"
#include "subscribers/file.h"

enum action {
	/* how it is attached */
	ACTION_AQM,
	ACTION_HANDLE,
	ACTION_MQ,
	ACTION_REPLACE,
	ACTION_SUBSCRIBERS,

	/* where, and what else is done */
	ACTION_EGRESS,
	ACTION_INGRESS,
	ACTION_CONFIG,
	ACTION_FIND_CONFIG,
	ACTION_UNLOAD,
	ACTION_IF_ATTACHED,
	ACTION_CHECK,
	ACTION_SUBSCRIBER,

	N_ACTIONS, /* the parameters follow them */
};

_Static_assert(N_ACTIONS + PARAMS_MAX + OPTIONS_GENERAL <= OPTIONS_MAX, "too many options");

#define HOW "How to attach"
#define ACTIONS "Actions (default: attach, or change what is attached)"

static struct command command = {
	.name = "dualpi2-load",
	.synopsis = "IFACE [OPTIONS]\n"
		    "       dualpi2-load status\n"
		    "       dualpi2-load off [--if-attached]",
	.words = { { "interface", .is_word = true, .kind = KIND_FILE, .words = "eth0" } },
	.about = "Attach the qdisc bpf_dualpi2 (DualPI2, RFC 9332) to the root of an interface.\n"
		 "If it is already attached, the given parameters change the live qdisc, the\n"
		 "others stay, and no packet is lost. Parameters may be spelled as in tc:\n"
		 "`target 10ms any_ect` is `--target 10ms --any-ect`.\n"
		 "`status` shows what is attached where; `off` restores all interfaces.\n",
	.epilogue = "RATE: 40mbit, 1.5gbit, 500kibit, or bytes: 5mbps. TIME: 15ms, 500us, 1s.\n"
		    "BYTES: 64k, 30m. A bare number is bit/s, microseconds, bytes.\n"
		    "\n"
		    "Exit status: 0 done, 1 failed (nothing is changed, unless only the output could\n"
		    "not be written), 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  dualpi2-load eth0                    at the speed of the device\n"
		    "  dualpi2-load eth0 --rate 40mbit      if the bottleneck is elsewhere\n"
		    "  dualpi2-load eth0 --ingress --rate 95mbit    a download link of 100mbit\n"
		    "  dualpi2-load eth0 --target 10ms      change one parameter\n"
		    "  dualpi2-load eth0 --mq               one for each transmit queue\n"
		    "  dualpi2-load eth0 --config /etc/dualpi2/eth0.conf\n"
		    "  dualpi2-load eth0 --mq --rate 2.5gbit    all of them share the rate\n"
		    "  dualpi2-load eth0 --max-rtt 50ms     suited to RTTs up to 50 ms\n"
		    "  dualpi2-load eth0 limit 1000 any_ect step_thresh 5p     as in tc\n"
		    "  dualpi2-load eth0 --subscribers customers    a plan for each subscriber\n"
		    "  dualpi2-load eth0 --subscriber c1001 --rate 50mbit    another plan\n"
		    "  dualpi2-load eth0 --unload\n",
	.headings = { PARAMS_SHAPER, PARAMS_TC, PARAMS_OWN, HOW, ACTIONS },
	.usual = { "rate", "docsis", "pppoe-ptm", "overhead", "ingress", "per-host", "sparse",
		   "guard", "replace", "config", "unload", "check" },
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
		[ACTION_SUBSCRIBERS] = { "subscribers", HOW,
					 "queues and a plan of its own for each subscriber of a "
					 "file, `NAME PREFIX[,PREFIX...] DOWN UP [PARENT]` a line, "
					 "or LibreQoS's ShapedDevices.csv; by the address that "
					 "--per-host says (auto). Where it is attached, only what "
					 "differs is changed, by name",
					 .places = PLACE_FILE, .kind = KIND_FILE,
					 .words = "/etc/dualpi2/customers" },
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
		[ACTION_SUBSCRIBER] = { "subscriber", ACTIONS,
					"give the subscriber or parent of this name another rate, "
					"with --rate, until a file is loaded that has another one",
					.kind = KIND_FILE, .words = "c1001",
					.argument = "NAME" },
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

/* ---- one subscriber ------------------------------------------------------------------ */

static const struct option_given *given_rate(void)
{
	return param_given(command.given + N_ACTIONS, "rate");
}

static bool set_rate(const char *ifname)
{
	const enum direction direction = given(ACTION_INGRESS) ? INGRESS : EGRESS;
	const char *const name = given(ACTION_SUBSCRIBER);

	if (!actions_set_rate(ifname, direction, name, given_rate()->value))
		return false;
	say_line("%s: %s: rate %s", ifname, name, given_rate()->text);
	return true;
}

static bool is_among(const char *name, const char *const names[])
{
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

/* The first option that was given and is none of these, which end with NULL; NULL: all are. */
static const char *given_besides(const char *const names[])
{
	for (const struct option_spec *spec = command.options; option_exists(spec); spec++) {
		if (command.given[spec - command.options].text && !is_among(spec->name, names))
			return spec->name;
	}
	return NULL;
}

/* Besides --subscriber: which direction, and the rate. */
static bool subscriber_agrees(void)
{
	static const char *const names[] = { "subscriber", "egress",  "ingress",
					     "rate",	   "verbose", NULL };
	const char *const other = given_besides(names);

	if (!given_rate()->value)
		return fail(0, "--subscriber %s: needs --rate, 8kbit to 1tbit",
			    given(ACTION_SUBSCRIBER));
	return !other || fail(0, "--%s: not with --subscriber, which takes --rate alone", other);
}

/* ---- all interfaces ------------------------------------------------------------------ */

static const char status_word[] = "status", off_word[] = "off";

/* Is it, in place of an interface, a word about all? Behind a `--` it is none. */
static bool is_about_all(const char *word)
{
	return word && !command.is_literal &&
	       (!strcmp(word, status_word) || !strcmp(word, off_word));
}

static bool all_agrees(const char *word)
{
	static const char *const for_status[] = { "verbose", NULL };
	static const char *const for_off[] = { "verbose", "if-attached", NULL };
	const bool is_off = !strcmp(word, off_word);
	const char *const other = given_besides(is_off ? for_off : for_status);

	return !other || fail(0,
			      "%s: takes no --%s: it is about all interfaces (for one of this "
			      "name: `dualpi2-load -- %s`)",
			      word, other, word);
}

/* An interface of this name might be meant: then it is not for us to choose. */
static enum status all_are_meant(const char *word)
{
	struct link link;
	int found = link_look_for(word, &link);

	if (found > 0)
		fail(0,
		     "%s: is a command, but here also an interface: for this, `dualpi2-load -- "
		     "%s`; to unload all, each by its name",
		     word, word);
	return found > 0 ? STATUS_USAGE : found < 0 ? STATUS_FAILURE : STATUS_OK;
}

/* ---- command line ------------------------------------------------------------ */

/* Rules that are about more than one argument. */
static bool arguments_agree(const char *ifname)
{
	bool others = params_given(command.given + N_ACTIONS) || given(ACTION_AQM) ||
		      given(ACTION_HANDLE) || given(ACTION_REPLACE) || given(ACTION_CHECK) ||
		      given(ACTION_MQ) || given(ACTION_CONFIG) || given(ACTION_SUBSCRIBERS) ||
		      given(ACTION_SUBSCRIBER);

	if (is_about_all(ifname))
		return all_agrees(ifname);
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
	return !given(ACTION_SUBSCRIBER) || subscriber_agrees();
}

/* What the options say that were given, on the command line or in a file. */
static bool make_request(const struct option_given *options, enum direction direction,
			 struct request *request)
{
	static struct subscribers subscribers[N_DIRECTIONS];
	const char *const file = options[ACTION_SUBSCRIBERS].text;

	*request = (struct request){
		.params = options + N_ACTIONS,
		.aqm = options[ACTION_AQM].text ? aqms[options[ACTION_AQM].value] : NULL,
		.handle = options[ACTION_HANDLE].value << 16,
		.mq = options[ACTION_MQ].text,
		.replace = options[ACTION_REPLACE].text,
		.whole = given(ACTION_CONFIG),
		.subscribers = file ? &subscribers[direction] : NULL,
	};
	return request_agrees(request, direction) &&
	       (!file || subscribers_read(file, request->subscribers));
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
	for (int i = 0; agrees && i < N_DIRECTIONS; i++) {
		message_set_place("%s", path);
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
		.has[INGRESS] = given(ACTION_INGRESS) || is_about_all(ifname) ||
				(given(ACTION_UNLOAD) && !given(ACTION_EGRESS)),
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
	status = is_about_all(ifname) ? all_are_meant(ifname) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	/* What was done before a failure stands before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* A run is short; being interrupted in the middle of it helps nobody. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT | PRIVILEGE_LOAD | PRIVILEGE_NET);
	if (is_about_all(ifname) && !strcmp(ifname, status_word))
		done = actions_status(outcome_say) && say_flush();
	else if (is_about_all(ifname))
		done = actions_unload_all(&requests, given(ACTION_IF_ATTACHED), outcome_say);
	else if (given(ACTION_CHECK))
		done = actions_check(ifname, &requests);
	else if (given(ACTION_UNLOAD))
		done = actions_unload(ifname, &requests, given(ACTION_IF_ATTACHED), outcome_say);
	else if (given(ACTION_SUBSCRIBER))
		done = set_rate(ifname);
	else
		done = actions_attach(ifname, &requests, outcome_say);
	return done ? STATUS_OK : message_status();
}
