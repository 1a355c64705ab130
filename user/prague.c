// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tcp-prague: TCP Prague, the sender of L4S, on stock kernels. */
#include <stdlib.h>

#include "cli/message.h"
#include "cli/subcommand.h"
#include "pinned/pin_dir.h"
#include "prague/commands.h"
#include "prague/programs.h"

#define TOOL "tcp-prague"
#define WHO "Whose sockets"
#define WHERE "Where"
#define HOW "How"
#define OUTPUT "Output"

/* Rows of `on`, which exclude each other. */
enum who {
	CGROUP,
	UNIT,
	NETNS,
	DEFAULT,
};

#define BIT(who) (1U << (who))

/* ---- the commands -------------------------------------------------------------------- */

#define AGAIN "; may be given again"
#define OPTION_TO                                       \
	{ "to",                                         \
	  WHO,                                          \
	  "only for destinations in this prefix" AGAIN, \
	  .kind = KIND_PREFIX,                          \
	  .words = "192.0.2.0/24",                      \
	  .many = true }
#define OPTION_NOT_TO                                  \
	{ "not-to",                                    \
	  WHO,                                         \
	  "not for destinations in this prefix" AGAIN, \
	  .kind = KIND_PREFIX,                         \
	  .words = "10.0.0.0/8",                       \
	  .many = true }
#define OPTION_DEV                                                \
	{ "dev",                                                  \
	  WHERE,                                                  \
	  "only on this device, of all that are there now" AGAIN, \
	  .kind = KIND_FILE,                                      \
	  .argument = "IFACE",                                    \
	  .words = "eth0",                                        \
	  .many = true }
#define OPTION_NO_CLASSIC                                                                         \
	{ "no-classic-detection", HOW,                                                            \
	  "do not look for Classic ECN bottlenecks, on which Prague starves other traffic: only " \
	  "where you know all queues (RFC 9331, 4.3)",                                            \
	  .kind = KIND_NONE }

static struct command run_command = {
	.name = TOOL " run",
	.synopsis = "[OPTIONS] [--] COMMAND [ARGUMENT]...",
	.about = "Run a command; it and what it starts send L4S. When it ends everything is taken\n"
		 "back, and what it left running is ended.\n",
	.epilogue = "Exit status: that of the command; 126 or 127 if it cannot be run; 1 failed,\n"
		    "2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  tcp-prague run -- iperf3 -c 192.0.2.1\n"
		    "  tcp-prague run --to 192.0.2.0/24 -- rsync -a data/ host:\n",
	.has_rest = true,
	.headings = { WHO, WHERE, HOW },
	.options = {
		OPTION_TO,
		OPTION_NOT_TO,
		OPTION_DEV,
		OPTION_NO_CLASSIC,
	},
};

static struct command on_command = {
	.name = TOOL " on",
	.synopsis = "[--cgroup PATH | --unit UNIT | --netns NETNS] [OPTIONS]",
	.about = "Let others send L4S: the sockets of a control group, of a systemd unit or of a\n"
		 "network namespace, from their next connection on. What listened before accepts\n"
		 "such connections only where net.ipv4.tcp_ecn is 3 or more. Without one of these,\n"
		 "only programs that select `prague` themselves use it.\n",
	.epilogue = EPILOGUE("0 done")
		    "  tcp-prague on --unit nginx\n"
		    "  tcp-prague on --cgroup /sys/fs/cgroup/user.slice --to 2001:db8::/32\n"
		    "  tcp-prague on --netns blue --dev eth0\n",
	.headings = { WHO, WHERE, HOW },
	.options = {
		[CGROUP] = { "cgroup", WHO, "those of a control group, and of those in it",
			     .kind = KIND_FILE, .argument = "PATH",
			     .words = "/sys/fs/cgroup/user.slice",
			     .excludes = BIT(UNIT) | BIT(NETNS) | BIT(DEFAULT) },
		[UNIT] = { "unit", WHO, "those of a systemd unit that runs", .kind = KIND_FILE,
			   .argument = "UNIT", .words = "nginx",
			   .excludes = BIT(NETNS) | BIT(DEFAULT) },
		[NETNS] = { "netns", WHO, "those in a network namespace, with its devices",
			    .kind = KIND_FILE, .argument = "NETNS", .words = "blue" },
		[DEFAULT] = { "default", WHO,
			      "make it the default of the network namespace, for all programs: "
			      "only if you mean that", .kind = KIND_NONE },
		OPTION_TO,
		OPTION_NOT_TO,
		OPTION_DEV,
		OPTION_NO_CLASSIC,
	},
};

static struct command off_command = {
	.name = TOOL " off",
	.synopsis = "[OPTIONS]",
	.about = "Undo all that `tcp-prague on` did: new sockets do not use Prague, live ones change to\n"
		 "Cubic, then their packets are sent as ECT(0) again.\n",
	.epilogue = EPILOGUE("0 done") "  tcp-prague off\n",
	.headings = { HOW },
	.options = {
		{ "if-on", HOW, "succeed even if there is nothing to undo", .kind = KIND_NONE },
	},
};

static struct command status_command = {
	.name = TOOL " status",
	.synopsis = "[OPTIONS]",
	.about = "Show the sockets that use, or used, Prague, of all network namespaces, and the\n"
		 "destinations on the way to which a Classic ECN bottleneck was seen.\n",
	.epilogue = EPILOGUE("0 shown")
		    "  tcp-prague status\n"
		    "  tcp-prague status --json | jq '.sockets[].alpha'\n",
	.headings = { OUTPUT },
	.options = {
		{ "json", OUTPUT, "one object", .slot = 1, .kind = KIND_NONE },
		{ "openmetrics", OUTPUT, "metrics in the text format of OpenMetrics 1.0",
		  .slot = 1, .kind = KIND_NONE },
	},
};

static struct command check_command = {
	.name = TOOL " check",
	.synopsis = "[PEER[:PORT]]",
	.words = { { "peer", .is_word = true, .kind = KIND_PEER } },
	.about =
		"Check whether this host can send L4S, without a change that stays; with a peer also\n"
		"whether it answers with Accurate ECN, and what the path does to the ECN field.\n"
		"The port is that of `tcp-prague sink` (5009), or any that takes a connection.\n",
	.epilogue = "Exit status: 0 it can, 1 it cannot, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  tcp-prague check\n"
		    "  tcp-prague check 192.0.2.1:443\n",
};

static struct command sink_command = {
	.name = TOOL " sink",
	.synopsis = "[PORT]",
	.words = { { "port", .is_word = true, .kind = KIND_FILE, .words = "5009" } },
	.about =
		"Receive what `tcp-prague check` of another host sends, until interrupted, and say\n"
		"what arrived. Without PORT: 5009.\n",
	.epilogue = EPILOGUE("0 interrupted") "  tcp-prague sink\n",
};

/* ---- what is done -------------------------------------------------------------------- */

/* How many are there in a list that was given, or not? */
static int list_length(const char *list)
{
	int count = list != NULL;

	for (; list && *list; list++)
		count += *list == ',';
	return count;
}

static bool prefixes_fit(const struct command *command, const char *name)
{
	return list_length(command_given(command, name)) <= PRAGUE_PREFIXES ||
	       fail_usage("--%s: more than %d prefixes", name, PRAGUE_PREFIXES);
}

/* Options that `run` and `on` have in common. False: they do not fit, which is reported. */
static bool read_selection(const struct command *command, struct selection *selection)
{
	*selection = (struct selection){
		.to = command_given(command, "to"),
		.not_to = command_given(command, "not-to"),
		.devices = command_given(command, "dev"),
		.no_classic_detection = command_given(command, "no-classic-detection"),
	};
	return prefixes_fit(command, "to") && prefixes_fit(command, "not-to");
}

static bool do_run(const struct command *command)
{
	struct selection selection;
	int status;

	if (!*command->rest)
		return fail_usage("run: a command is missing (see tcp-prague run --help)");
	if (read_selection(command, &selection) && prague_run(&selection, command->rest, &status))
		exit(status);
	return false;
}

static bool do_on(const struct command *command)
{
	struct selection selection;
	bool is_for_others;

	if (!read_selection(command, &selection))
		return false;
	selection.cgroup = command_given(command, "cgroup");
	selection.unit = command_given(command, "unit");
	selection.netns = command_given(command, "netns");
	selection.is_default = command_given(command, "default");
	is_for_others = selection.cgroup || selection.unit || selection.netns;
	if (!is_for_others && (selection.to || selection.not_to))
		return fail_usage(
			"--%s: only with --cgroup, --unit or --netns: programs that select `prague` "
			"themselves choose their destinations",
			selection.to ? "to" : "not-to");
	return prague_on(&selection);
}

static bool do_off(const struct command *command)
{
	return prague_off(command_given(command, "if-on"));
}

static bool do_status(const struct command *command)
{
	enum status_format format = STATUS_TABLE;

	if (command_given(command, "json"))
		format = STATUS_JSON;
	else if (command_given(command, "openmetrics"))
		format = STATUS_OPENMETRICS;
	return prague_show(format);
}

static bool do_check(const struct command *command)
{
	return prague_check(command_given(command, "peer"));
}

static bool do_sink(const struct command *command)
{
	return prague_sink(command_given(command, "port"));
}

static const struct tool tcp_prague = {
	.name = TOOL,
	.about =
		"TCP Prague, the sender of L4S, on stock kernels from Linux 6.18 on. Its peer needs\n"
		"Accurate ECN; without it a connection uses Cubic as ever.\n",
	.examples = "  " TOOL " check\n"
		    "  " TOOL " run -- iperf3 -c 192.0.2.1\n"
		    "  " TOOL " on --unit nginx\n"
		    "  " TOOL " status\n"
		    "  " TOOL " off\n",
	.subcommands =
		(const struct subcommand[]){
			{ "run", "run a command that sends L4S", do_run, &run_command },
			{ "on", "let a unit, a control group or a namespace send L4S", do_on,
			  &on_command },
			{ "off", "undo that", do_off, &off_command },
			{ "status", "show the sockets", do_status, &status_command },
			{ "check", "what is missing here, and on the way to a peer", do_check,
			  &check_command },
			{ "sink", "the peer of a check", do_sink, &sink_command },
			{},
		},
};

int main(int argc, char **argv)
{
	message_init(TOOL);
	pins_belong_to(PRAGUE_PIN_DIR, TOOL, "prague_");
	return tool_run(&tcp_prague, argc, argv);
}
