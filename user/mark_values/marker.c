// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mark_values/marker.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/link.h"
#include "kernel/running.h"
#include "pinned/pins.h"
#include "pinned/tcx_link.h"
#include "show/json.h"
#include "vdq/mark_values.skel.h"

#define TOP "" /* directory of all pins */
#define LINK "link-"
#define COUNTERS "counters-" /* of any version */
#define OUR_COUNTERS COUNTERS MARK_VALUES_ABI "-"
#define FLOWS "flows-"
#define OUR_FLOWS FLOWS MARK_VALUES_ABI "-"

/* ---- pins ------------------------------------------------------------------------------ */

/* Remove the maps without a link that is pinned. */
static void forget_maps(void)
{
	static const char *const kinds[] = { COUNTERS, FLOWS };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		DIR *pins = pins_list(TOP);
		char link[PIN_NAME_MAX];
		const char *name;

		while ((name = pins_next(pins, kinds[i]))) {
			if (!pin_exists(TOP, pin_numbered(LINK, pin_number(name), link)))
				pin_forget(TOP, name);
		}
	}
}

static void end(__u32 id)
{
	char name[PIN_NAME_MAX];

	pin_remove(TOP, pin_numbered(LINK, id, name));
	forget_maps();
}

/* End what interfaces that are gone and interrupted runs have left. */
static void sweep(void)
{
	tcx_links_sweep(TOP, LINK);
	forget_maps();
}

/* The number of the link on an interface: 1; 0: there is none; -errno, which is reported. It may
 * have come here from another network namespace.
 */
static int find(const struct link *on, __u32 *id)
{
	DIR *pins = pins_list(TOP);
	int found = 0;
	const char *name;

	while ((name = pins_next(pins, LINK))) {
		struct bpf_link_info info;
		int here = tcx_link_look(TOP, name, &info);

		if (here < 0)
			pin_refuse(here, TOP, name);
		if (here > 0)
			here = tcx_link_is_on(&info, (__u32)on->ifindex, BPF_TCX_EGRESS);
		if (here > 0)
			*id = info.id;
		if (here && found <= 0)
			found = here;
	}
	return expect_known(found, "the tcx programs of %s", on->name);
}

static const struct object_shape counters_shape = {
	.type = BPF_MAP_TYPE_ARRAY,
	.key_size = sizeof(__u32),
	.value_size = sizeof(struct mark_values_counters),
};
static const struct object_shape flows_shape = {
	.type = BPF_MAP_TYPE_LRU_HASH,
	.key_size = sizeof(__u64),
	.value_size = sizeof(struct value_flow),
};

/* A map of a link that was found; -1, which is reported. */
static int open_map(const char *kind, __u32 id, const struct object_shape *shape)
{
	char name[PIN_NAME_MAX];
	int fd = pin_open_as(TOP, pin_numbered(kind, id, name), shape);

	if (fd == -ENOENT || fd == -EPROTO)
		fail(-fd, "another version of dualpi2-mark-values is at work: "
			  "`dualpi2-mark-values IFACE --unload` first");
	else if (fd < 0)
		pin_refuse(fd, TOP, name);
	return fd < 0 ? -1 : fd;
}

/* ---- attach ------------------------------------------------------------------------------ */

static bool reuse_map(struct bpf_map *map, const char *kind, __u32 id,
		      const struct object_shape *shape)
{
	int fd = open_map(kind, id, shape);
	bool reused;

	if (fd < 0)
		return false;
	reused = !bpf_map__reuse_fd(map, fd) || fail(errno, "cannot reuse a map");
	close(fd);
	return reused;
}

static bool load(struct mark_values_bpf *skel, const struct policies *policies)
{
	if (mark_values_bpf__load(skel))
		return refuse_load(errno);
	for (__u32 dscp = 0; dscp < MARK_VALUES_DSCPS; dscp++) {
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.value_policies), &dscp,
					&policies->of[dscp], BPF_ANY))
			return fail(errno, "a policy cannot be written: %s", strerror(errno));
	}
	return true;
}

/* The maps first: a link without them would be another version's. */
static bool begin(const struct mark_values_bpf *skel, const struct link *on)
{
	int link = tcx_link_create(bpf_program__fd(skel->progs.mark_values), on->ifindex,
				   BPF_TCX_EGRESS, BPF_F_BEFORE);
	char name[PIN_NAME_MAX];
	bool pinned;
	__u32 id;

	if (link < 0)
		return tcx_link_refuse(-link, on->name);
	id = object_id(link);
	pinned = (id || fail(errno, "the kernel does not show a tcx link: %s", strerror(errno))) &&
		 pin_create(bpf_map__fd(skel->maps.value_counters), TOP,
			    pin_numbered(OUR_COUNTERS, id, name)) &&
		 pin_create(bpf_map__fd(skel->maps.value_flows), TOP,
			    pin_numbered(OUR_FLOWS, id, name)) &&
		 pin_create(link, TOP, pin_numbered(LINK, id, name));
	close(link);
	if (!pinned)
		end(id);
	return pinned;
}

/* Where it is: the new program has the new policies, and goes on with flows and counters. */
static bool replace(struct mark_values_bpf *skel, __u32 id)
{
	char name[PIN_NAME_MAX];
	int error, link = pin_open(TOP, pin_numbered(LINK, id, name));

	if (link < 0)
		return pin_refuse(link, TOP, name);
	error = bpf_link_update(link, bpf_program__fd(skel->progs.mark_values), NULL);
	close(link);
	return !error || fail(-error, "the program cannot be replaced: %s", strerror(-error));
}

static bool attach_or_replace(const struct link *on, const struct policies *policies,
			      __u64 rate_memory_ns)
{
	struct mark_values_bpf *skel;
	__u32 id = 0;
	int found = find(on, &id);
	bool done;

	if (found < 0)
		return false;
	skel = mark_values_bpf__open();
	if (!skel)
		return fail(errno, "the BPF object does not fit this libbpf (-v shows why)");
	skel->rodata->rate_memory_ns = rate_memory_ns;
	done = (!found ||
		(reuse_map(skel->maps.value_counters, OUR_COUNTERS, id, &counters_shape) &&
		 reuse_map(skel->maps.value_flows, OUR_FLOWS, id, &flows_shape))) &&
	       load(skel, policies) && (found ? replace(skel, id) : begin(skel, on));
	mark_values_bpf__destroy(skel);
	return done;
}

bool marker_attach(const char *ifname, const struct policies *policies, __u64 rate_memory_ns)
{
	struct link on;
	bool done;

	if (!link_named(ifname, &on) || !bpffs_mount() || !pins_lock())
		return false;
	sweep();
	done = attach_or_replace(&on, policies, rate_memory_ns);
	pins_remove_directory(TOP); /* if it is empty */
	return done;
}

/* ---- detach ------------------------------------------------------------------------------ */

static bool detach(const char *ifname)
{
	struct link on;
	__u32 id = 0;
	int found;

	if (!link_named(ifname, &on))
		return false;
	found = find(&on, &id);
	if (found > 0)
		end(id);
	return found > 0 ||
	       (!found && fail(0, "%s: nothing to unload: no values are marked there", ifname));
}

bool marker_detach(const char *ifname)
{
	bool done;

	if (!pins_lock_if_any())
		return false;
	sweep();
	done = detach(ifname);
	pins_remove_directory(TOP); /* if it is empty */
	return done && !message_reported();
}

/* ---- show --------------------------------------------------------------------------------- */

static uint64_t count_flows(int map)
{
	__u64 key, *previous = NULL;
	uint64_t count = 0;

	/* The kernel may begin anew where a flow has just made room. */
	while (count < VALUE_FLOWS_MAX && !bpf_map_get_next_key(map, previous, &key)) {
		previous = &key;
		count++;
	}
	return count;
}

static void print(const char *ifname, const struct mark_values_counters *counters, uint64_t flows,
		  bool as_json)
{
	const struct {
		const char *key, *text;
		uint64_t value;
	} rows[] = {
		{ "labelled", "packets with their value as flow label", counters->labelled },
		{ "others", "packets that have no flow label (not IPv6)", counters->others },
		{ "unlabelled", "packets without a value, for want of memory",
		  counters->unlabelled },
		{ "flows", "flows that are measured", flows },
		{ "flows-evicted", "flows that made room for others",
		  counters->flows > flows ? counters->flows - flows : 0 },
	};
	struct json_object *object = as_json ? json_object_new_object() : NULL;

	if (object)
		json_add_text(object, "interface", ifname);
	else
		say_line("%s: marks values", ifname);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (object)
			json_add_uint(object, rows[i].key, rows[i].value);
		else
			printf("  %12" PRIu64 "  %s\n", rows[i].value, rows[i].text);
	}
	if (object)
		json_put_line(stdout, object);
}

static bool show(const char *ifname, int counters_map, int flows_map, bool as_json)
{
	struct mark_values_counters counters;
	const __u32 first = 0;

	if (bpf_map_lookup_elem(counters_map, &first, &counters))
		return fail(errno, "the counters cannot be read: %s", strerror(errno));
	print(ifname, &counters, count_flows(flows_map), as_json);
	return true;
}

bool marker_show(const char *ifname, bool as_json)
{
	int found, counters, flows;
	struct link on;
	bool shown;
	__u32 id = 0;

	if (!link_named(ifname, &on) || !pins_lock_if_any())
		return false;
	found = find(&on, &id);
	if (found <= 0)
		return !found && fail(0, "%s: no values are marked there", ifname);
	counters = open_map(OUR_COUNTERS, id, &counters_shape);
	flows = open_map(OUR_FLOWS, id, &flows_shape);
	shown = counters >= 0 && flows >= 0 && show(ifname, counters, flows, as_json);
	if (counters >= 0)
		close(counters);
	if (flows >= 0)
		close(flows);
	return shown;
}
