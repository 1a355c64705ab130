// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/device.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/message.h"
#include "pinned/ledger.h"

#define DEVICES_MAX (2 * DUALPI2_MAX_INSTANCES)

/* ---- the map --------------------------------------------------------------------- */

static bool note(const struct device *device, __u32 ifindex)
{
	const struct dualpi2_device entry = { .address = device->address, .ifindex = ifindex };

	return ledger_write(LEDGER_DEVICES, &device->key, &entry);
}

bool device_enter(struct device *device)
{
	device->entered = note(device, device->ifindex);
	return device->entered;
}

void device_forget(const struct device *device)
{
	ledger_erase(LEDGER_DEVICES, &device->key);
}

void devices_each(const struct registrations *regs, const struct device_kind *kind,
		  void (*visit)(const struct registrations *regs, const struct dualpi2_key *key))
{
	struct dualpi2_key keys[DEVICES_MAX], *previous = NULL;
	const int map = ledger_fd(LEDGER_DEVICES);
	size_t count = 0;

	while (count < DEVICES_MAX && !bpf_map_get_next_key(map, previous, &keys[count]))
		previous = &keys[count++];
	for (size_t i = 0; i < count; i++) {
		if (keys[i].parent == kind->purpose)
			visit(regs, &keys[i]);
	}
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
	snprintf(device->alias, sizeof(device->alias), "%s interface %u, for bpf_dualpi2",
		 kind->about, key->ifindex);
	if (ledger_read(LEDGER_DEVICES, &device->key, &entry) < 0)
		return false;
	device->address = entry.address;
	if (entry.ifindex && link_look((int)entry.ifindex, &link) < 0)
		return false;
	device->entered = has_address(device, &link);
	if (!device->entered)
		return link_each(kind->kind, take_if_ours, device);
	take(device, &link);
	return true;
}

/* ---- make ------------------------------------------------------------------------ */

enum naming { BY_NAME, BY_NUMBER, BY_KERNEL, N_NAMINGS };

/* False: the name would be too long. */
static bool name_device(enum naming naming, const char *prefix, const char *ifname, __u32 ifindex,
			char name[IF_NAMESIZE])
{
	switch (naming) {
	case BY_NAME:
		return snprintf(name, IF_NAMESIZE, "%s-%s", prefix, ifname) < IF_NAMESIZE;
	case BY_NUMBER:
		return snprintf(name, IF_NAMESIZE, "%s-%u", prefix, ifindex) < IF_NAMESIZE;
	default:
		return snprintf(name, IF_NAMESIZE, "%s-%%d", prefix) < IF_NAMESIZE;
	}
}

static enum link_made make_named(const struct device *device, const char *ifname,
				 enum naming naming, struct link *made)
{
	char name[IF_NAMESIZE], peer[IF_NAMESIZE];
	const struct device_kind *kind = device->kind;
	const struct link_plan plan = {
		.kind = kind->kind,
		.name = name,
		.peer = kind->peer_prefix ? peer : NULL,
		.address = device->address,
	};

	if (!name_device(naming, kind->prefix, ifname, device->key.ifindex, name) ||
	    (plan.peer &&
	     !name_device(naming, kind->peer_prefix, ifname, device->key.ifindex, peer)))
		return LINK_NAME_TAKEN;
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

enum link_made device_make(struct device *device, const char *ifname)
{
	enum link_made made = LINK_NAME_TAKEN;
	struct link link;

	/* Noted first, so that it is known as ours however this process ends. */
	if (!draw_address(&device->address) || !note(device, 0))
		return LINK_REFUSED;
	for (int naming = 0; made == LINK_NAME_TAKEN && naming < N_NAMINGS; naming++)
		made = make_named(device, ifname, naming, &link);
	if (made == LINK_MADE) {
		take(device, &link);
		return made;
	}
	device_forget(device);
	if (made != LINK_NAME_TAKEN)
		return made;
	fail(0, "no name is free for a device beside %s: rename the %s-* there are", ifname,
	     device->kind->prefix);
	return LINK_REFUSED;
}
