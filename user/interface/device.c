// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/device.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "check/report.h"
#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/ledger.h"

const struct device_kind ifb_kind = {
	.purpose = DUALPI2_IFB,
	.kind = IFB_KIND,
	.prefix = "in",
	.about = "what arrives at",
};

const struct device_kind splitter_kind = {
	.purpose = DUALPI2_SPLITTER,
	.kind = NETKIT_KIND,
	.prefix = "gso",
	.peer_prefix = "gsx", /* the other end, which carries nothing */
	.about = "splits GSO packets of",
};

/* ---- the alias --------------------------------------------------------------------- */

#define ABOUT_INTERFACE " interface %u"

/* The number alone would not do: a device can move to another network namespace, where an interface
 * may have the same number. The cookie of a network namespace is never reused.
 */
static void write_alias(const struct device_kind *kind, const struct dualpi2_key *key,
			char alias[LINK_ALIAS_MAX])
{
	snprintf(alias, LINK_ALIAS_MAX,
		 "%s" ABOUT_INTERFACE " in network namespace %llu, for bpf_dualpi2", kind->about,
		 key->ifindex, key->netns);
}

/* Is this the alias of a device of this kind that was made in this network namespace? Then `key` is
 * that of its interface.
 */
static bool read_alias(const struct device_kind *kind, const char *alias, struct dualpi2_key *key)
{
	const size_t about = strlen(kind->about);
	char expected[LINK_ALIAS_MAX];

	*key = (struct dualpi2_key){ .netns = netns_current() };
	if (strncmp(alias, kind->about, about) ||
	    sscanf(alias + about, ABOUT_INTERFACE, &key->ifindex) != 1)
		return false;
	write_alias(kind, key, expected);
	return !strcmp(alias, expected);
}

/* ---- the map --------------------------------------------------------------------- */

bool device_enter(const struct device *device)
{
	const struct dualpi2_device entry = {
		.address = device->address,
		.ifindex = device->ifindex,
		.parent = device->parent,
	};

	return ledger_write(LEDGER_DEVICES, &device->key, &entry);
}

void device_forget(const struct device *device)
{
	ledger_erase(LEDGER_DEVICES, &device->key);
}

/* ---- find ------------------------------------------------------------------------ */

static bool has_address(const struct device *device, const struct link *link)
{
	return device->address && link->address == device->address &&
	       !strcmp(link->kind, device->kind->kind);
}

static void take(struct device *device, const struct link *link)
{
	device->ifindex = link->ifindex;
	device->address = link->address;
	memcpy(device->name, link->name, sizeof(device->name));
}

/* An entry that names no number, or another device's: it was interrupted, or somebody has given
 * the device another address.
 */
static void take_if_ours(const struct link *link, void *data)
{
	struct device *device = data;

	if (!device->ifindex && !strcmp(link->kind, device->kind->kind) &&
	    (has_address(device, link) || !strcmp(link->alias, device->alias)))
		take(device, link);
}

bool device_find(const struct device_kind *kind, const struct dualpi2_key *key,
		 struct device *device)
{
	struct dualpi2_device entry;
	struct link link = {};

	*device = (struct device){ .kind = kind, .key = *key };
	device->key.parent = kind->purpose;
	write_alias(kind, key, device->alias);
	if (ledger_read(LEDGER_DEVICES, &device->key, &entry) < 0)
		return false;
	device->address = entry.address;
	device->parent = entry.parent;
	if (entry.ifindex && link_look((int)entry.ifindex, &link) < 0)
		return false;
	device->entered = has_address(device, &link);
	if (!device->entered)
		return link_each(kind->kind, take_if_ours, device);
	take(device, &link);
	return true;
}

/* ---- make ------------------------------------------------------------------------ */

/* The name of one end; false: it would be too long. */
static bool join(const char *prefix, const char *suffix, char name[IF_NAMESIZE])
{
	return snprintf(name, IF_NAMESIZE, "%s-%s", prefix, suffix) < IF_NAMESIZE;
}

static int make_named(const struct device *device, const char *suffix, uint32_t tx_queues,
		      struct link *made)
{
	char name[IF_NAMESIZE], peer[IF_NAMESIZE];
	const struct device_kind *kind = device->kind;
	const struct link_plan plan = {
		.kind = kind->kind,
		.name = name,
		.peer = kind->peer_prefix ? peer : NULL,
		.address = device->address,
		.tx_queues = tx_queues,
	};

	if (!join(kind->prefix, suffix, name) ||
	    (plan.peer && !join(kind->peer_prefix, suffix, peer)))
		return -EEXIST;
	return link_create(&plan, made);
}

/* A MAC address that nobody else has: 46 bits at random, of the locally administered ones. */
static bool draw_address(__u64 *address)
{
	__u8 mac[sizeof(*address)] = {};

	if (getrandom(mac, 6, 0) != 6)
		return fail(errno, "cannot draw a random number: %s; run it again",
			    strerror(errno));
	mac[0] = (mac[0] & 0xfc) | 2;
	memcpy(address, mac, sizeof(mac));
	return true;
}

int device_make(struct device *device, const char *ifname, uint32_t tx_queues)
{
	char number[16];
	const char *const suffixes[] = { ifname, number, "%d" /* for the kernel to fill in */ };
	int error = -EEXIST;
	struct link link;

	snprintf(number, sizeof(number), "%u", device->key.ifindex);
	device->ifindex = 0;
	/* Noted first, so that it is known as ours however this process ends. */
	if (!draw_address(&device->address) || !device_enter(device))
		return -EIO;
	for (int i = 0; error == -EEXIST && i < 3; i++)
		error = make_named(device, suffixes[i], tx_queues, &link);
	if (!error)
		take(device, &link);
	else
		device_forget(device);
	if (error == -EEXIST)
		fail(0,
		     "%s: no name is left for its device: rename one of the interfaces %s-* "
		     "(see `ip link`)",
		     ifname, device->kind->prefix);
	return error;
}

/* ---- all of a kind ----------------------------------------------------------------- */

#define DEVICES_MAX (2 * DUALPI2_MAX_INSTANCES)

/* The keys of those that the ledger has, in all network namespaces. Returns how many they are. */
static size_t read_recorded(const struct device_kind *kind, struct dualpi2_key keys[DEVICES_MAX])
{
	struct dualpi2_key key, *previous = NULL;
	const int map = ledger_fd(LEDGER_DEVICES);
	size_t count = 0;

	while (count < DEVICES_MAX && !bpf_map_get_next_key(map, previous, &key)) {
		if (key.parent == kind->purpose)
			keys[count++] = key;
		previous = &key;
	}
	return count;
}

struct visiting {
	const struct device_kind *kind;
	bool (*visit)(const struct device *device, bool is_recorded, void *data);
	void *data;
	__u32 recorded[DEVICES_MAX]; /* their numbers */
	size_t count;
	bool failed;
};

static bool is_recorded(const struct visiting *visiting, __u32 ifindex)
{
	for (size_t i = 0; i < visiting->count; i++) {
		if (visiting->recorded[i] == ifindex)
			return true;
	}
	return false;
}

static void visit_by_alias(const struct link *link, void *data)
{
	struct visiting *visiting = data;
	struct device device = { .kind = visiting->kind };

	if (strcmp(link->kind, visiting->kind->kind) || is_recorded(visiting, link->ifindex) ||
	    !read_alias(visiting->kind, link->alias, &device.key))
		return;
	take(&device, link);
	visiting->failed |= !visiting->visit(&device, false, visiting->data);
}

bool devices_each(const struct device_kind *kind,
		  bool (*visit)(const struct device *device, bool is_recorded, void *data),
		  void *data)
{
	struct visiting visiting = { .kind = kind, .visit = visit, .data = data };
	struct dualpi2_key keys[DEVICES_MAX];
	const size_t count = read_recorded(kind, keys);

	for (size_t i = 0; i < count; i++) {
		struct device device;

		if (keys[i].netns != netns_current())
			continue;
		if (!device_find(kind, &keys[i], &device))
			return false;
		if (!device.ifindex)
			continue;
		visiting.recorded[visiting.count++] = device.ifindex;
		if (!visit(&device, true, data))
			return false;
	}
	return link_each(kind->kind, visit_by_alias, &visiting) && !visiting.failed;
}

void devices_sweep(const struct registrations *regs, const struct device_kind *kind, __u32 spared,
		   int (*is_useless)(const struct registrations *regs,
				     const struct dualpi2_key *key),
		   void (*remove)(const struct registrations *regs, const struct device *device,
				  const void *data),
		   const void *data)
{
	struct dualpi2_key keys[DEVICES_MAX];
	const size_t count = read_recorded(kind, keys);

	for (size_t i = 0; i < count; i++) {
		struct device device = { .kind = kind, .key = keys[i] };
		const bool is_here = keys[i].netns == netns_current();

		if ((is_here && keys[i].ifindex == spared) || is_useless(regs, &keys[i]) <= 0)
			continue;
		/* With a namespace its devices are gone. */
		if (is_here && !device_find(kind, &keys[i], &device))
			continue;
		verbose("interface %u: its %s device goes", keys[i].ifindex, kind->kind);
		remove(regs, &device, data);
	}
}

/* ---- no interface to attach to ----------------------------------------------------- */

struct search {
	const struct link *link;
	bool is_found;
	struct device device;
};

/* Also the other end of a pair. */
static bool compare(const struct device *device, bool is_recorded, void *data)
{
	struct search *search = data;
	const struct link *link = search->link;
	const bool is_peer = device->kind->peer_prefix && !strcmp(link->kind, device->kind->kind) &&
			     link->peer == (int)device->ifindex;

	(void)is_recorded;
	if (link->ifindex == (int)device->ifindex || is_peer) {
		search->is_found = true;
		search->device = *device;
	}
	return true;
}

static bool refuse(const char *ifname, const struct device *device)
{
	struct link interface;
	int found = link_look((int)device->key.ifindex, &interface);

	if (found < 0)
		return false;
	if (!found)
		return report_obstacle(STATUS_FAILURE, 0, ifname, LEFT_OVER, ifname);
	if (device->kind == &ifb_kind)
		return report_obstacle(STATUS_FAILURE, 0, ifname,
				       "is the ifb for incoming traffic of %s: `dualpi2-load %s "
				       "--ingress` with options, or with --unload, is about it",
				       interface.name, interface.name);
	return report_obstacle(STATUS_FAILURE, 0, ifname,
			       "only splits GSO packets for %s: `dualpi2-load %s` with options, or "
			       "with --unload, is about it",
			       interface.name, interface.name);
}

static bool look(struct search *search)
{
	return devices_each(&ifb_kind, compare, search) &&
	       devices_each(&splitter_kind, compare, search);
}

bool device_is_none(const char *ifname)
{
	struct link link;
	struct search search = { .link = &link };
	int found = link_look_for(ifname, &link);

	if (found <= 0)
		return !found;
	return look(&search) && (!search.is_found || refuse(ifname, &search.device));
}

int device_look(const struct link *link)
{
	struct search search = { .link = link };

	return look(&search) ? search.is_found : -EIO;
}
