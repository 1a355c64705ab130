// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-stats: show what the live bpf_dualpi2 qdiscs do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "events.h"
#include "figures.h"
#include "link.h"
#include "message.h"
#include "netlink.h"
#include "options.h"
#include "pins.h"
#include "privilege.h"
#include "registration.h"
#include "table.h"
#include "tc.h"

enum output {
	OUTPUT_JSON,
	OUTPUT_TC,
	OUTPUT_EVENTS,
	N_OUTPUTS,
};

#define SLOT_FORMAT 1

static const struct option_spec output_specs[N_OUTPUTS] = {
	[OUTPUT_JSON] = { .name = "json",
			  .slot = SLOT_FORMAT,
			  .help = "an array with an object per qdisc, with the keys\n"
				  "of `tc -j -s qdisc show`; times in us" },
	[OUTPUT_TC] = { .name = "tc",
			.slot = SLOT_FORMAT,
			.help = "as `tc -s qdisc show` prints it for dualpi2" },
	[OUTPUT_EVENTS] = { .name = "events",
			    .help = "a line whenever an overload begins or has ended,\n"
				    "until interrupted; with --json an object a line.\n"
				    "Without IFACE: in all network namespaces" },
};

static const char *outputs[N_OUTPUTS];

static struct option_group groups[] = {
	{ "Output", output_specs, N_OUTPUTS, outputs, false, false },
};

static const struct command command = {
	.name = "dualpi2-stats",
	.synopsis = "[IFACE] [OPTIONS]",
	.about = "Show the bpf_dualpi2 qdiscs of this network namespace, or of one interface.\n"
		 "Counters and delays are those since the qdisc was attached.\n",
	.epilogue =
		"Exit status: 0 shown, 1 failed or nothing to show, 2 wrong usage. With --json\n"
		"nothing to show is an empty array, and 0.\n"
		"\n"
		"The three packet counts of RFC 9332, 2.5.2.2, for each queue: arrived is\n"
		"packets-in; presented to the AQM is packets-out + drop-pi2 + drop-overload;\n"
		"forwarded is packets-out. The AQM's drops are drop-pi2 for Not-ECT packets and\n"
		"drop-overload for ECN-capable ones.\n"
		"\n"
		"Each event is told once: of two --events at a time, either gets only some.\n"
		"\n"
		"EXAMPLES\n"
		"  dualpi2-stats\n"
		"  dualpi2-stats eth0\n"
		"  dualpi2-stats eth0 --tc\n"
		"  dualpi2-stats --events\n"
		"  dualpi2-stats --json | jq '.[].\"l-queue\".delay.p99'\n",
	.groups = groups,
	.n_groups = sizeof(groups) / sizeof(groups[0]),
};

/* The registration, or what we may read of it; that there is none (`found`) is no failure. */
static bool find_registration(struct registration *reg, bool *found)
{
	bool opened = true;

	*found = false;
	if (pins_have_bpffs())
		opened = pins_are_hidden() ? registration_open_public(reg, found)
					   : registration_open(reg, found);
	privilege_keep(0);
	return opened;
}

static bool nothing_to_show(const char *ifname, unsigned int ifindex)
{
	const char *where = ifname ? ifname : "this network namespace";
	const char *which = ifname ? ifname : "IFACE";

	if (figures_kind_lives(ifindex))
		return fail(0,
			    "%s: " DUALPI2_KIND " is attached, but its pins are gone: no "
			    "statistics, no marks, until `dualpi2-load %s`",
			    where, which);
	return fail(0, "%s: no " DUALPI2_KIND " qdisc: `dualpi2-load %s` attaches one", where,
		    which);
}

/* The instances to show. None is no failure. */
static bool collect(unsigned int ifindex, struct figures_list *list)
{
	struct registration reg;
	bool found, collected;

	*list = (struct figures_list){};
	if (!find_registration(&reg, &found))
		return false;
	if (!found)
		return true;
	collected = figures_collect(&reg, ifindex, list);
	registration_close(&reg);
	return collected;
}

static bool show(const char *ifname, unsigned int ifindex)
{
	struct figures_list list;
	bool shown = true;

	if (!collect(ifindex, &list))
		return false;
	if (outputs[OUTPUT_JSON])
		document_print(&list);
	else if (!list.count)
		shown = nothing_to_show(ifname, ifindex);
	else if (outputs[OUTPUT_TC])
		tc_print(&list);
	else
		table_print(&list);
	free(list.items);
	if (fflush(stdout) || ferror(stdout))
		return fail(errno, "cannot write to the standard output");
	return shown;
}

static bool follow(const char *ifname, unsigned int ifindex)
{
	struct registration reg;
	bool found, followed;

	if (!find_registration(&reg, &found))
		return false;
	if (!found)
		return nothing_to_show(ifname, ifindex);
	if (reg.events < 0) {
		registration_close(&reg);
		return fail(0, "--events: reading takes them from others: run it as root");
	}
	followed = events_follow(&reg, ifindex, outputs[OUTPUT_JSON]);
	registration_close(&reg);
	return followed;
}

static bool run(const char *ifname)
{
	unsigned int ifindex = 0;

	if (ifname && !interface_index(ifname, &ifindex))
		return false;
	return outputs[OUTPUT_EVENTS] ? follow(ifname, ifindex) : show(ifname, ifindex);
}

/* Rules that are about more than one argument. */
static bool arguments_agree(void)
{
	if (outputs[OUTPUT_EVENTS] && outputs[OUTPUT_TC])
		return fail(0, "--events: excludes --tc: give one of them");
	return true;
}

int main(int argc, char **argv)
{
	const char *ifname;
	enum status status;

	message_init(command.name);
	if (!command_read(&command, argc, argv, &ifname, &status))
		return status;
	if (!arguments_agree())
		return STATUS_USAGE;
	privilege_keep(PRIVILEGE_MOUNT);
	return run(ifname) ? STATUS_OK : STATUS_FAILURE;
}
