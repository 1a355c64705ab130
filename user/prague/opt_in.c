// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/opt_in.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/prefix.h"
#include "kernel/cgroup.h"
#include "opt_in.skel.h"
#include "tcp_prague.h"

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

static int attach(struct opt_in_bpf *skel, const struct opt_in *wanted, int cgroup)
{
	snprintf((char *)skel->rodata->congestion, sizeof(skel->rodata->congestion), "%s",
		 wanted->congestion);
	skel->rodata->netns = wanted->netns;
	skel->rodata->has_to = wanted->to;
	if (opt_in_bpf__load(skel)) {
		fail(errno, "the kernel refuses the BPF program for control groups (-v shows why)");
		return -1;
	}
	if ((wanted->to && !add_all(wanted->to, bpf_map__fd(skel->maps.to))) ||
	    (wanted->not_to && !add_all(wanted->not_to, bpf_map__fd(skel->maps.not_to))))
		return -1;
	return cgroup_attach(bpf_program__fd(skel->progs.prague_opt_in), cgroup);
}

int opt_in_attach(const struct opt_in *wanted, int cgroup)
{
	struct opt_in_bpf *skel = opt_in_bpf__open();
	int link;

	if (!skel) {
		fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
		return -1;
	}
	link = attach(skel, wanted, cgroup);
	opt_in_bpf__destroy(skel);
	return link;
}
