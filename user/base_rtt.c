// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tcp-base-rtt: the RTTs of idle paths, for TCP-NV. */
#include "base_rtt/commands.h"
#include "base_rtt/rtt_map.h"
#include "cli/prefix.h"
#include "cli/privilege.h"
#include "cli/subcommand.h"
#include "pinned/pin_dir.h"

#define TOOL "tcp-base-rtt"
#define WHO "Whose sockets"
#define HOW "How"
#define OUTPUT "Output"
#define US 1000 /* ns */

/* ---- the commands -------------------------------------------------------------------- */

#define OPTION_CGROUP                                                        \
	{ "cgroup",                                                          \
	  WHO,                                                               \
	  "those of this control group, and of those in it, instead of all", \
	  .kind = KIND_FILE,                                                 \
	  .argument = "PATH",                                                \
	  .words = "/sys/fs/cgroup/system.slice" }

/* Arguments that must be there. */
#define WORD_PREFIX \
	{ "prefix", .is_word = true, .is_needed = true, .kind = KIND_PREFIX, .words = "10.0.0.0/8" }

static struct command add_command = {
	.name = TOOL " add",
	.synopsis = "PREFIX TIME [OPTIONS]",
	.about =
		"Set the base RTT of the peers in PREFIX (an address of IPv4 or IPv6, with a length\n"
		"or without) to TIME: the RTT when nothing waits on the way. The longest prefix\n"
		"counts. In force for connections that begin from now on.\n",
	.epilogue =
		"TIME: 80us, 1.2ms; a bare number is in microseconds.\n"
		"\n"
		"Exit status: 0 done, 1 failed (nothing is changed, unless only the output could\n"
		"not be written), 2 wrong usage.\n"
		"\n"
		"EXAMPLES\n"
		"  tcp-base-rtt add 10.0.0.0/8 80us\n"
		"  tcp-base-rtt add 2001:db8::/32 1.2ms --cgroup /sys/fs/cgroup/system.slice\n",
	.words = { WORD_PREFIX,
		   { "time", .is_word = true, .is_needed = true, .kind = KIND_TIME, .min = US,
		     .max = (int64_t)BASE_RTT_MAX_US * US, .value = 80 * US } },
	.headings = { WHO },
	.options = { OPTION_CGROUP },
};

static struct command del_command = {
	.name = TOOL " del",
	.synopsis = "PREFIX [OPTIONS]",
	.about = "Remove the base RTT of exactly this prefix.\n",
	.epilogue = EPILOGUE("0 done") "  tcp-base-rtt del 10.0.0.0/8\n",
	.words = { WORD_PREFIX },
	.headings = { WHO },
	.options = { OPTION_CGROUP },
};

static struct command list_command = {
	.name = TOOL " list",
	.synopsis = "[OPTIONS]",
	.about = "Show the base RTTs, and how often sockets have asked for each.\n",
	.epilogue = EPILOGUE("0 shown")
		    "  tcp-base-rtt list\n"
		    "  tcp-base-rtt list --json | jq '.\"base-rtts\"[].asked'\n",
	.headings = { WHO, OUTPUT },
	.options = {
		OPTION_CGROUP,
		{ "json", OUTPUT, "one object", .kind = KIND_NONE },
	},
};

static struct command off_command = {
	.name = TOOL " off",
	.synopsis = "[OPTIONS]",
	.about = "Remove all base RTTs, and detach the programs. Live connections keep what they know.\n",
	.epilogue = EPILOGUE("0 done") "  tcp-base-rtt off\n",
	.headings = { WHO, HOW },
	.options = {
		OPTION_CGROUP,
		{ "if-on", HOW, "succeed even if there is nothing to undo", .kind = KIND_NONE },
	},
};

static struct command measure_command = {
	.name = TOOL " measure",
	.synopsis = "PEER[:PORT]",
	.about =
		"Connect to a peer twenty times, and propose a base RTT: twice the lowest RTT that\n"
		"the handshakes have shown. Changes nothing. The port is 5009 (`tcp-prague sink`),\n"
		"or any that takes a connection.\n",
	.epilogue = EPILOGUE("0 proposed") "  tcp-base-rtt measure 192.0.2.1:22\n",
	.words = { { "peer", .is_word = true, .is_needed = true, .kind = KIND_PEER } },
};

/* ---- what is done -------------------------------------------------------------------- */

static struct ip_prefix prefix_of(const struct command *command)
{
	struct ip_prefix prefix = {};

	prefix_read(command_given(command, "prefix"), &prefix);
	return prefix;
}

static bool do_add(const struct command *command)
{
	const struct ip_prefix prefix = prefix_of(command);
	const uint64_t rtt_ns = command->given_words[1].value;

	return base_rtt_add(command_given(command, "cgroup"), &prefix, rtt_ns / US);
}

static bool do_del(const struct command *command)
{
	const struct ip_prefix prefix = prefix_of(command);

	return base_rtt_delete(command_given(command, "cgroup"), &prefix);
}

static bool do_list(const struct command *command)
{
	return base_rtt_list(command_given(command, "cgroup"), command_given(command, "json"));
}

static bool do_off(const struct command *command)
{
	return base_rtt_off(command_given(command, "cgroup"), command_given(command, "if-on"));
}

static bool do_measure(const struct command *command)
{
	privilege_keep(0);
	return base_rtt_measure(command_given(command, "peer"));
}

static const struct tool tcp_base_rtt = {
	.name = TOOL,
	.about =
		"A base RTT for TCP-NV (the congestion control `nv` of the kernel): if it knows the RTT\n"
		"of an idle path, it keeps queues short without giving the link away.\n",
	.examples = "  " TOOL " measure 10.0.0.7:22\n"
		    "  " TOOL " add 10.0.0.0/8 80us\n"
		    "  " TOOL " list\n"
		    "  " TOOL " off\n",
	.subcommands =
		(const struct subcommand[]){
			{ "add", "set the base RTT of the peers in a prefix", do_add,
			  &add_command },
			{ "del", "remove that of a prefix", do_del, &del_command },
			{ "list", "show the base RTTs, and how often sockets asked", do_list,
			  &list_command },
			{ "off", "remove all of them", do_off, &off_command },
			{ "measure", "propose a value", do_measure, &measure_command },
			{},
		},
};

int main(int argc, char **argv)
{
	message_init(TOOL);
	pins_belong_to(BASE_RTT_PIN_DIR, TOOL, "tcp_base_rtt");
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT | PRIVILEGE_LOAD | PRIVILEGE_NET);
	return tool_run(&tcp_base_rtt, argc, argv);
}
