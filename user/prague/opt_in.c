// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/opt_in.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "opt_in.skel.h"
#include "tcp_prague.h"

#define V4_MAPPED_BITS 96

/* One prefix: "10.0.0.0/8", "2001:db8::/32", or an address alone. */
static bool read_prefix(const char *text, struct prague_prefix *prefix)
{
	char address[INET6_ADDRSTRLEN], *slash, *end;
	unsigned long bits, most = 128;

	if (strlen(text) >= sizeof(address))
		return false;
	strcpy(address, text);
	slash = strchr(address, '/');
	if (slash)
		*slash = '\0';
	*prefix = (struct prague_prefix){};
	if (inet_pton(AF_INET, address, prefix->address + 12) == 1) {
		memset(prefix->address + 10, 0xff, 2);
		most = 32;
	} else if (inet_pton(AF_INET6, address, prefix->address) != 1) {
		return false;
	}
	bits = most;
	if (slash) {
		bits = strtoul(slash + 1, &end, 10);
		if (slash[1] < '0' || slash[1] > '9' || *end || bits > most)
			return false;
	}
	prefix->bits = bits + (most == 32 ? V4_MAPPED_BITS : 0);
	return true;
}

/* Call `use` for each; false as soon as one is none, or `use` says so. */
static bool each_prefix(const char *name, const char *prefixes,
			bool (*use)(const struct prague_prefix *prefix, int map), int map)
{
	char *copy = strdup(prefixes), *rest = copy, *text;
	struct prague_prefix prefix;
	bool all = copy;
	int count = 0;

	while (all && (text = strsep(&rest, ","))) {
		if (!read_prefix(text, &prefix))
			all = fail(0,
				   "--%s %s: not a prefix (for example 10.0.0.0/8 or "
				   "2001:db8::/32)",
				   name, *text ? text : "''");
		else if (++count > PRAGUE_PREFIXES)
			all = fail(0, "--%s: more than %d prefixes", name, PRAGUE_PREFIXES);
		else
			all = !use || use(&prefix, map);
	}
	free(copy);
	return all;
}

bool opt_in_check(const char *name, const char *prefixes)
{
	return !prefixes || each_prefix(name, prefixes, NULL, -1);
}

static bool add(const struct prague_prefix *prefix, int map)
{
	__u8 yes = 1;

	return !bpf_map_update_elem(map, prefix, &yes, BPF_ANY) ||
	       fail(errno, "a prefix cannot be written: %s", strerror(errno));
}

static int attach(struct opt_in_bpf *skel, const struct opt_in *wanted, int cgroup)
{
	int link;

	snprintf((char *)skel->rodata->congestion, sizeof(skel->rodata->congestion), "%s",
		 wanted->congestion);
	skel->rodata->netns = wanted->netns;
	skel->rodata->has_to = wanted->to;
	if (opt_in_bpf__load(skel)) {
		fail(errno, "the kernel refuses the BPF program for control groups (-v shows why)");
		return -1;
	}
	if ((wanted->to && !each_prefix("to", wanted->to, add, bpf_map__fd(skel->maps.to))) ||
	    (wanted->not_to &&
	     !each_prefix("not-to", wanted->not_to, add, bpf_map__fd(skel->maps.not_to))))
		return -1;
	/* Beside what others have there: all are asked. */
	link = bpf_link_create(bpf_program__fd(skel->progs.prague_opt_in), cgroup,
			       BPF_CGROUP_SOCK_OPS, NULL);
	if (link < 0)
		fail(errno,
		     "the kernel refuses the program on the control group (%s): does it have "
		     "CONFIG_CGROUP_BPF=y, and no other program there that forbids more?",
		     strerror(errno));
	return link;
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
