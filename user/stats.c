// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-stats: show what the live bpf_dualpi2 qdiscs do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "document.h"
#include "figures.h"
#include "message.h"
#include "netlink.h"
#include "options.h"
#include "pins.h"
#include "registration.h"
#include "table.h"

enum output {
	OUTPUT_JSON,
	N_OUTPUTS,
};

static const struct option_spec output_specs[N_OUTPUTS] = {
	[OUTPUT_JSON] = { .name = "json",
			  .help = "an array with an object per qdisc, with the keys\n"
				  "of `tc -j -s qdisc show`; times in us" },
};

static const char *outputs[N_OUTPUTS];

static struct option_group groups[] = {
	{ "Output", output_specs, N_OUTPUTS, outputs },
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
		"EXAMPLES\n"
		"  dualpi2-stats\n"
		"  dualpi2-stats eth0\n"
		"  dualpi2-stats --json | jq '.[].\"l-queue\".delay.p99'\n",
	.groups = groups,
	.n_groups = sizeof(groups) / sizeof(groups[0]),
};

/* The instances to show. None is no failure. */
static bool collect(unsigned int ifindex, struct figures_list *list)
{
	struct registration reg;
	bool found = false, collected;

	*list = (struct figures_list){};
	if (pins_have_bpffs() && !registration_open(&reg, &found))
		return false;
	if (!found)
		return true;
	collected = figures_collect(&reg, ifindex, list);
	registration_close(&reg);
	return collected;
}

static bool show(const char *ifname)
{
	unsigned int ifindex = 0;
	struct figures_list list;
	bool shown = true;

	if (ifname && !interface_index(ifname, &ifindex))
		return false;
	if (!collect(ifindex, &list))
		return false;
	if (outputs[OUTPUT_JSON])
		document_print(&list);
	else if (list.count)
		table_print(&list);
	else
		shown = fail(0, "%s: no " DUALPI2_KIND " qdisc: `dualpi2-load %s` attaches one",
			     ifname ? ifname : "this network namespace", ifname ? ifname : "IFACE");
	free(list.items);
	if (fflush(stdout) || ferror(stdout))
		return fail(errno, "cannot write to the standard output");
	return shown;
}

int main(int argc, char **argv)
{
	const char *ifname;

	message_init(command.name);
	switch (command_read(&command, argc, argv, &ifname)) {
	case COMMAND_DONE:
		return STATUS_OK;
	case COMMAND_WRONG:
		return STATUS_USAGE;
	case COMMAND_RUN:
		break;
	}
	return show(ifname) ? STATUS_OK : STATUS_FAILURE;
}
