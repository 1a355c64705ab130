// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tcp-prague: TCP Prague, the sender of L4S, on stock kernels. */
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options.h"
#include "prague/commands.h"
#include "prague/opt_in.h"
#include "prague/programs.h"
#include "pinned/pins.h"

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

/* Of some kind of name or address, of which several may be given. */
#define OPTION_MANY(name_, heading_, what, argument_, example) \
	{ name_,                                               \
	  heading_,                                            \
	  what "; may be given again",                         \
	  .kind = KIND_FILE,                                   \
	  .argument = argument_,                               \
	  .words = example,                                    \
	  .many = true }
#define OPTION_TO \
	OPTION_MANY("to", WHO, "only for destinations in this prefix", "PREFIX", "192.0.2.0/24")
#define OPTION_NOT_TO \
	OPTION_MANY("not-to", WHO, "not for destinations in this prefix", "PREFIX", "10.0.0.0/8")
#define OPTION_DEV \
	OPTION_MANY("dev", WHERE, "only on this device, of all that are there now", "IFACE", "eth0")
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
	.synopsis = "[--cgroup PATH | --unit NAME | --netns NAME] [OPTIONS]",
	.about = "Let others send L4S: the sockets of a control group, of a systemd unit or of a\n"
		 "network namespace, from their next connection on. What listened before accepts\n"
		 "such connections only where net.ipv4.tcp_ecn is 3 or more. Without either:\n"
		 "programs that ask for it themselves, by TCP_CONGESTION, \"prague\".\n",
	.epilogue = "Exit status: 0 done, 1 failed, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
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
			   .argument = "NAME", .words = "nginx",
			   .excludes = BIT(NETNS) | BIT(DEFAULT) },
		[NETNS] = { "netns", WHO, "those in a network namespace, with its devices",
			    .kind = KIND_FILE, .argument = "NAME", .words = "blue" },
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
	.about = "Undo all that `tcp-prague on` did: no new socket becomes Prague's, those that live\n"
		 "become Cubic's, then their packets are sent as ECT(0) again.\n",
	.epilogue = "Exit status: 0 done, 1 failed, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  tcp-prague off\n",
	.headings = { HOW },
	.options = {
		{ "if-on", HOW, "succeed even if there is nothing to undo", .kind = KIND_NONE },
	},
};

static struct command status_command = {
	.name = TOOL " status",
	.synopsis = "[OPTIONS]",
	.about = "Show the sockets that are, or were, Prague's, of all network namespaces, and the\n"
		 "destinations on the way to which a Classic ECN bottleneck was seen.\n",
	.epilogue = "Exit status: 0 shown, 1 failed, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
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
	.about =
		"Check whether this host can send L4S, without changing anything; with a peer also\n"
		"whether it answers with Accurate ECN, and what the path does to the ECN field.\n"
		"The port is that of `tcp-prague sink` (5009), or any that takes a connection.\n",
	.epilogue = "Exit status: 0 it can, 1 it cannot, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  tcp-prague check\n"
		    "  tcp-prague check 192.0.2.1:443\n",
	.headings = { NULL },
};

static struct command sink_command = {
	.name = TOOL " sink",
	.synopsis = "[PORT]",
	.about =
		"Receive what `tcp-prague check` of another host sends, until interrupted, and say\n"
		"what arrived. Without PORT: 5009.\n",
	.epilogue = "Exit status: 0 interrupted, 1 failed, 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  tcp-prague sink\n",
	.headings = { NULL },
};

/* ---- what is done -------------------------------------------------------------------- */

static const char *given(const struct command *command, const char *name)
{
	return option_named(command->options, name)->given;
}

static bool prefixes_fit(const struct selection *selection)
{
	return opt_in_check("to", selection->to) && opt_in_check("not-to", selection->not_to);
}

static enum status result(bool done)
{
	return done ? STATUS_OK : message_status();
}

static int do_run(const char *word)
{
	struct selection selection = {
		.to = given(&run_command, "to"),
		.not_to = given(&run_command, "not-to"),
		.devices = given(&run_command, "dev"),
		.no_classic_detection = given(&run_command, "no-classic-detection"),
	};
	int status;

	(void)word;
	if (!*run_command.rest) {
		fail(0, "run: a command is missing (see tcp-prague run --help)");
		return STATUS_USAGE;
	}
	if (!prefixes_fit(&selection))
		return STATUS_USAGE;
	return prague_run(&selection, run_command.rest, &status) ? status : (int)message_status();
}

static int do_on(const char *word)
{
	struct selection selection = {
		.cgroup = given(&on_command, "cgroup"),
		.unit = given(&on_command, "unit"),
		.netns = given(&on_command, "netns"),
		.devices = given(&on_command, "dev"),
		.to = given(&on_command, "to"),
		.not_to = given(&on_command, "not-to"),
		.is_default = given(&on_command, "default"),
		.no_classic_detection = given(&on_command, "no-classic-detection"),
	};
	const bool is_for_others = selection.cgroup || selection.unit || selection.netns;

	(void)word;
	if (!is_for_others && (selection.to || selection.not_to)) {
		fail(0,
		     "--%s: only with --cgroup, --unit or --netns: programs that ask for it "
		     "choose themselves",
		     selection.to ? "to" : "not-to");
		return STATUS_USAGE;
	}
	if (!prefixes_fit(&selection))
		return STATUS_USAGE;
	return result(prague_on(&selection));
}

static int do_off(const char *word)
{
	(void)word;
	return result(prague_off(given(&off_command, "if-on")));
}

static int do_status(const char *word)
{
	enum status_format format = STATUS_TABLE;

	(void)word;
	if (given(&status_command, "json"))
		format = STATUS_JSON;
	else if (given(&status_command, "openmetrics"))
		format = STATUS_OPENMETRICS;
	return result(prague_show(format));
}

static int do_check(const char *peer)
{
	return result(prague_check(peer));
}

static int do_sink(const char *port)
{
	return result(prague_sink(port));
}

static const struct subcommand {
	const char *name;
	struct command *command;
	int (*run)(const char *word); /* `word`: the argument that is no option, or NULL */
	bool takes_word;
	const char *about;
} subcommands[] = {
	{ "run", &run_command, do_run, false, "run a command that sends L4S" },
	{ "on", &on_command, do_on, false, "let a unit, a control group or a namespace send L4S" },
	{ "off", &off_command, do_off, false, "undo that" },
	{ "status", &status_command, do_status, false, "show the sockets" },
	{ "check", &check_command, do_check, true,
	  "what is missing here, and on the way to a peer" },
	{ "sink", &sink_command, do_sink, true, "the peer of a check" },
};

#define N_SUBCOMMANDS (sizeof(subcommands) / sizeof(subcommands[0]))

static void print_help(void)
{
	printf("Usage: " TOOL " COMMAND [OPTIONS]\n\n"
	       "TCP Prague, the sender of L4S, on stock kernels from Linux 6.18 on. Its peer needs\n"
	       "Accurate ECN; without it a connection is Cubic's as ever.\n\nCommands:\n");
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		printf("      %-24s%s\n", subcommands[i].name, subcommands[i].about);
	printf("\n`" TOOL " COMMAND --help` shows the options of a command.\n"
	       "\nEXAMPLES\n"
	       "  " TOOL " check\n"
	       "  " TOOL " run -- iperf3 -c 192.0.2.1\n"
	       "  " TOOL " on --unit nginx\n"
	       "  " TOOL " status\n"
	       "  " TOOL " off\n");
}

/* NULL: what was asked for is not one; `status` says what to exit with. */
static const struct subcommand *find_subcommand(const char *name, enum status *status)
{
	*status = STATUS_OK;
	for (size_t i = 0; name && i < N_SUBCOMMANDS; i++) {
		if (!strcmp(name, subcommands[i].name))
			return &subcommands[i];
	}
	if (name && (!strcmp(name, "--help") || !strcmp(name, "-h"))) {
		print_help();
	} else if (name && !strcmp(name, "--version")) {
		printf(TOOL " %s\n", tool_version());
	} else {
		*status = STATUS_USAGE;
		if (name)
			fail(0, "%s: no such command (see " TOOL " --help)", name);
		else
			fail(0, "a command is missing (see " TOOL " --help)");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct subcommand *subcommand;
	enum status status;
	const char *word;

	message_init(TOOL);
	pins_belong_to(PRAGUE_PIN_DIR, TOOL);
	subcommand = find_subcommand(argc > 1 ? argv[1] : NULL, &status);
	if (!subcommand || !command_read(subcommand->command, argc - 1, argv + 1, &word, &status))
		return status;
	if (word && !subcommand->takes_word) {
		fail(0, "%s: %s takes no argument (see " TOOL " %s --help)", word, subcommand->name,
		     subcommand->name);
		return STATUS_USAGE;
	}
	return subcommand->run(word);
}
