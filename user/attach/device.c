// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/device.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "pinned/instance.h"
#include "cli/message.h"

#define HELPERS_MAX (2 * DUALPI2_MAX_INSTANCES)

/* ---- the map --------------------------------------------------------------------- */

/* All 0 if there is no entry. */
static bool read_entry(const struct registration *reg, const struct dualpi2_key *key,
		       struct dualpi2_helper *entry)
{
	*entry = (struct dualpi2_helper){};
	return reg->helpers < 0 || !bpf_map_lookup_elem(reg->helpers, key, entry) ||
	       errno == ENOENT ||
	       fail(errno, "cannot look up a helper device: %s; run it again", strerror(errno));
}

static bool write_entry(const struct registration *reg, const struct helper *helper, __u32 ifindex)
{
	const struct dualpi2_helper entry = { .address = helper->address, .ifindex = ifindex };

	if (bpf_map_update_elem(reg->helpers, &helper->key, &entry, BPF_ANY))
		return fail(errno, "cannot note a helper device: at most %u can be made",
			    HELPERS_MAX);
	return true;
}

bool helper_enter(const struct registration *reg, struct helper *helper)
{
	helper->entered = write_entry(reg, helper, helper->ifindex);
	return helper->entered;
}

void helper_forget(const struct registration *reg, const struct helper *helper)
{
	bpf_map_delete_elem(reg->helpers, &helper->key);
}

void helpers_each(const struct registration *reg, const struct helper_kind *kind,
		  void (*visit)(const struct registration *reg, const struct dualpi2_key *key))
{
	struct dualpi2_key keys[HELPERS_MAX], *previous = NULL;
	size_t count = 0;

	while (count < HELPERS_MAX && !bpf_map_get_next_key(reg->helpers, previous, &keys[count]))
		previous = &keys[count++];
	for (size_t i = 0; i < count; i++) {
		if (keys[i].parent == kind->purpose)
			visit(reg, &keys[i]);
	}
}

/* ---- find ------------------------------------------------------------------------ */

static bool has_address(const struct helper *helper, const struct link *link)
{
	return helper->address && link->address == helper->address &&
	       !strcmp(link->kind, helper->kind->kind);
}

static void take(struct helper *helper, const struct link *link)
{
	helper->ifindex = link->ifindex;
	helper->address = link->address;
	memcpy(helper->name, link->name, sizeof(helper->name));
}

/* An entry that names no number, or another device's: it was interrupted, or somebody has given
 * the device another address.
 */
static void take_if_ours(const struct link *link, void *data)
{
	struct helper *helper = data;

	if (!helper->ifindex && !strcmp(link->kind, helper->kind->kind) &&
	    (has_address(helper, link) || !strcmp(link->alias, helper->alias)))
		take(helper, link);
}

bool helper_find(const struct registration *reg, const struct helper_kind *kind,
		 const struct dualpi2_key *key, struct helper *helper)
{
	struct dualpi2_helper entry;
	struct link link = {};

	*helper = (struct helper){ .kind = kind, .key = *key };
	helper->key.parent = kind->purpose;
	snprintf(helper->alias, sizeof(helper->alias), "%s interface %u, for " DUALPI2_KIND,
		 kind->about, key->ifindex);
	if (!read_entry(reg, &helper->key, &entry))
		return false;
	helper->address = entry.address;
	if (entry.ifindex && !link_look((int)entry.ifindex, &link))
		return false;
	helper->entered = has_address(helper, &link);
	if (!helper->entered)
		return link_each(kind->kind, take_if_ours, helper);
	take(helper, &link);
	return true;
}

/* ---- make ------------------------------------------------------------------------ */

enum naming { BY_NAME, BY_NUMBER, BY_KERNEL, N_NAMINGS };

/* False: the name would be too long. */
static bool device_name(enum naming naming, const char *prefix, const char *ifname, __u32 ifindex,
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

static enum link_made make_named(const struct helper *helper, const char *ifname,
				 enum naming naming, struct link *made)
{
	char name[IF_NAMESIZE], peer[IF_NAMESIZE];
	const struct helper_kind *kind = helper->kind;
	const struct link_plan plan = {
		.kind = kind->kind,
		.name = name,
		.peer = kind->peer_prefix ? peer : NULL,
		.address = helper->address,
	};

	if (!device_name(naming, kind->prefix, ifname, helper->key.ifindex, name) ||
	    (plan.peer &&
	     !device_name(naming, kind->peer_prefix, ifname, helper->key.ifindex, peer)))
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

enum link_made helper_make(const struct registration *reg, struct helper *helper,
			   const char *ifname)
{
	enum link_made made = LINK_NAME_TAKEN;
	struct link link;

	/* Noted first, so that it is known as ours however this process ends. */
	if (!draw_address(&helper->address) || !write_entry(reg, helper, 0))
		return LINK_REFUSED;
	for (int naming = 0; made == LINK_NAME_TAKEN && naming < N_NAMINGS; naming++)
		made = make_named(helper, ifname, naming, &link);
	if (made == LINK_MADE) {
		take(helper, &link);
		return made;
	}
	helper_forget(reg, helper);
	if (made != LINK_NAME_TAKEN)
		return made;
	fail(0, "no name is free for a device beside %s: rename the %s-* there are", ifname,
	     helper->kind->prefix);
	return LINK_REFUSED;
}
