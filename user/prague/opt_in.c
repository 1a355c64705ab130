// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/opt_in.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/prefix.h"
#include "kernel/cgroup.h"
#include "kernel/netns.h"
#include "kernel/running.h"
#include "opt_in.skel.h"
#include "pinned/pins.h"

/* Write a list of prefixes into a map. */
static bool add_all(const char *prefixes, int map)
{
	char *copy = strdup(prefixes), *rest = copy, *text;
	struct ip_prefix prefix;
	const __u8 yes = 1;
	bool all = copy;

	while (all && (text = strsep(&rest, ",")))
		all = prefix_read(text, &prefix) &&
		      !bpf_map_update_elem(map, &prefix, &yes, BPF_ANY);
	if (!all)
		fail(errno, "the prefixes cannot be written: %s", strerror(errno));
	free(copy);
	return all;
}

static bool load(struct opt_in_bpf *skel, const struct opt_in *wanted)
{
	snprintf((char *)skel->rodata->congestion, sizeof(skel->rodata->congestion), "%s",
		 wanted->congestion);
	skel->rodata->netns = wanted->netns;
	skel->rodata->has_to = wanted->to;
	if (opt_in_bpf__load(skel))
		return fail(errno, "the kernel refuses the BPF program for control groups (-v "
				   "shows why)");
	return (!wanted->to || add_all(wanted->to, bpf_map__fd(skel->maps.to))) &&
	       (!wanted->not_to || add_all(wanted->not_to, bpf_map__fd(skel->maps.not_to)));
}

/* Loaded, or NULL, which is reported. */
static struct opt_in_bpf *load_for(const struct opt_in *wanted)
{
	struct opt_in_bpf *skel = opt_in_bpf__open();

	if (skel && load(skel, wanted))
		return skel;
	if (!skel)
		fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
	opt_in_bpf__destroy(skel);
	return NULL;
}

static int attach(const struct opt_in_bpf *skel, int cgroup)
{
	return cgroup_attach(bpf_program__fd(skel->progs.prague_opt_in), cgroup);
}

bool opt_in_attach(const struct opt_in *wanted, int cgroup)
{
	struct opt_in_bpf *skel = load_for(wanted);
	bool attached = skel && attach(skel, cgroup) >= 0; /* the link stays open until we exit */

	opt_in_bpf__destroy(skel);
	return attached;
}

/* ---- pins ------------------------------------------------------------------------------ */

/* A number of a control group, or the cookie of a namespace, neither of which comes again. */
#define CGROUP_PIN "cgroup-"
#define NETNS_PIN "netns-"

static bool has_ended(const struct opt_in_bpf *skel, const char *name)
{
	const int find = bpf_program__fd(skel->progs.prague_find_netns);
	int link = pin_open(OPT_IN_PINS, name);
	bool ended;

	if (link < 0)
		return false;
	ended = cgroup_is_gone(link) > 0 || (!strncmp(name, NETNS_PIN, strlen(NETNS_PIN)) &&
					     netns_has_ended(find, pin_number(name)) > 0);
	close(link);
	return ended;
}

static void sweep(const struct opt_in_bpf *skel)
{
	DIR *pins = pins_list(OPT_IN_PINS);
	const char *name;

	while ((name = pins_next(pins, ""))) {
		if (has_ended(skel, name))
			pin_remove(OPT_IN_PINS, name);
	}
}

static bool pin(int link, __u64 netns, int cgroup)
{
	char name[PIN_NAME_MAX];

	if (netns)
		pin_numbered(NETNS_PIN, netns, name);
	else
		pin_numbered(CGROUP_PIN, cgroup_number(cgroup), name);
	pin_remove(OPT_IN_PINS, name);
	return pin_link(link, OPT_IN_PINS, name);
}

bool opt_in_pin(const struct opt_in *wanted, int cgroup)
{
	struct opt_in_bpf *skel = load_for(wanted);
	int link = -1;

	if (skel) {
		sweep(skel);
		link = attach(skel, cgroup);
	}
	opt_in_bpf__destroy(skel);
	return link >= 0 && pin(link, wanted->netns, cgroup);
}

int opt_in_finder(void)
{
	struct opt_in_bpf *skel = opt_in_bpf__open();
	int find = -1;

	if (skel)
		bpf_program__set_autoload(skel->progs.prague_opt_in, false);
	if (!skel || opt_in_bpf__load(skel))
		refuse_load(errno);
	else
		find = fd_of_our_own(bpf_program__fd(skel->progs.prague_find_netns));
	opt_in_bpf__destroy(skel);
	return find;
}
