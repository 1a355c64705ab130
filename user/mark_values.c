// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-mark-values: mark what an interface sends with values for VDQ-CSAQM. */
#include <signal.h>

#include "cli/options.h"
#include "cli/privilege.h"
#include "mark_values/marker.h"
#include "mark_values/policy.h"
#include "pinned/pin_dir.h"

#define ACTIONS "Actions (default: attach, or change what is attached)"
#define OUTPUT "Output"

enum { OPTION_POLICY, OPTION_RATE_MEMORY, OPTION_UNLOAD, OPTION_SHOW, OPTION_JSON };

static struct command command = {
	.name = "dualpi2-mark-values",
	.synopsis = "IFACE [OPTIONS]",
	.about =
		"Give each packet that an interface sends a value for VDQ-CSAQM, as the flow label of\n"
		"IPv6. A bottleneck with `dualpi2-load --aqm vdq --values flow-label` shares its link\n"
		"by these values. Other packets are left alone: the bottleneck measures them itself.\n"
		"US patents 12500850, 11038806, 12021756 and 11695703 read on it: whoever uses or\n"
		"distributes it has to look into that.\n",
	.epilogue = "Exit status: 0 done, 1 failed (nothing is changed, unless only the output could\n"
		    "not be written), 2 wrong usage.\n"
		    "\n"
		    "EXAMPLES\n"
		    "  dualpi2-mark-values eth0\n"
		    "  dualpi2-mark-values eth0 --policy /etc/dualpi2/values.conf\n"
		    "  dualpi2-mark-values eth0 --show\n"
		    "  dualpi2-mark-values eth0 --unload\n",
	.words = { { "interface", .is_word = true, .kind = KIND_FILE, .words = "eth0" } },
	.headings = { ACTIONS, OUTPUT },
	.options = {
		[OPTION_POLICY] = { "policy", ACTIONS,
				    "which packets get more, in place of the same for all: see "
				    "dualpi2-mark-values(8)",
				    .kind = KIND_FILE, .argument = "FILE",
				    .words = "/etc/dualpi2/values.conf",
				    .excludes = 1 << OPTION_UNLOAD | 1 << OPTION_SHOW },
		[OPTION_RATE_MEMORY] = { "rate-memory", ACTIONS,
					 "how long a change of a flow's rate takes to be seen",
					 .kind = KIND_TIME, .min = 1000000,
					 .max = VALUE_MEMORY_MAX_NS, .value = VALUE_MEMORY_NS,
					 .excludes = 1 << OPTION_UNLOAD | 1 << OPTION_SHOW },
		[OPTION_UNLOAD] = { "unload", ACTIONS, "mark no longer", .kind = KIND_NONE,
				    .excludes = 1 << OPTION_SHOW | 1 << OPTION_JSON },
		[OPTION_SHOW] = { "show", OUTPUT, "change nothing, and show what has been marked",
				  .kind = KIND_NONE },
		[OPTION_JSON] = { "json", OUTPUT, "with --show: one object", .kind = KIND_NONE },
	},
};

static uint64_t rate_memory_ns(void)
{
	const struct option_given *given = &command.given[OPTION_RATE_MEMORY];

	return given->text ? given->value : command.options[OPTION_RATE_MEMORY].value;
}

static bool is_given(int option)
{
	return command.given[option].text;
}

/* Rules that are about more than one argument. */
static bool arguments_agree(void)
{
	if (!command_given(&command, "interface"))
		return fail(0, "an interface is missing (see %s --help)", command.name);
	return !is_given(OPTION_JSON) || is_given(OPTION_SHOW) ||
	       fail(0, "--json: only with --show");
}

int main(int argc, char **argv)
{
	struct policies policies;
	enum status status;
	const char *ifname;
	bool done;

	message_init(command.name);
	pins_belong_to(MARK_VALUES_PIN_DIR, command.name, "mark_values");
	if (!command_read(&command, argc, argv, &status))
		return status;
	if (!arguments_agree() || !policies_read(command.given[OPTION_POLICY].text, &policies))
		return STATUS_USAGE;
	/* A run is short; being interrupted in the middle of it helps nobody. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT | PRIVILEGE_LOAD | PRIVILEGE_NET);
	ifname = command_given(&command, "interface");
	if (is_given(OPTION_SHOW))
		done = marker_show(ifname, is_given(OPTION_JSON));
	else
		done = is_given(OPTION_UNLOAD) ? marker_detach(ifname)
					       : marker_attach(ifname, &policies, rate_memory_ns());
	return done ? STATUS_OK : message_status();
}
