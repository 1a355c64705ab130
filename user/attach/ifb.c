// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/ifb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/netns.h"
#include "kernel/qdisc.h"
#include "pinned/ledger.h"
#include "pinned/tcx.h"

const struct device_kind ifb_kind = {
	.purpose = DUALPI2_IFB,
	.kind = "ifb",
	.prefix = "in",
	.about = "what arrives at",
};

const struct ifb *ifbs_find(const struct ifbs *ifbs, __u32 ifindex)
{
	for (size_t i = 0; i < ifbs->count; i++) {
		if (ifbs->of[i].ifindex == ifindex)
			return &ifbs->of[i];
	}
	return NULL;
}

/* Do packets come to it, and is a qdisc of ours there? 1, 0, or -errno, which is reported. */
static int is_whole(const struct registrations *regs, const struct device *device)
{
	const struct dualpi2_key key = interface_key(&device->key);
	struct qdisc root = {};
	int fed = 0;

	for (size_t i = 0; !fed && i < regs->count; i++)
		fed = tcx_look(&regs->of[i], &key, TCX_INGRESS);
	if (fed > 0 && !qdisc_root((int)device->ifindex, &root))
		return -EIO;
	return fed > 0 ? aqm_of_kind(root.kind) != NULL : fed;
}

/* Is the interface still there that it was made for? Its name. 1, 0, or -errno, which is reported.
 * Only with the ledger we may see more than that there is one of the number.
 */
static int has_interface(const struct registrations *regs, const struct device *device,
			 bool is_recorded, char ifname[IF_NAMESIZE])
{
	const struct dualpi2_key key = interface_key(&device->key);
	struct link interface = {};
	int found = link_look((int)key.ifindex, &interface), gone;

	if (found <= 0)
		return found;
	memcpy(ifname, interface.name, IF_NAMESIZE);
	gone = is_recorded ? interface_is_gone(regs, &key, TCX_INGRESS) : 0;
	return expect_known(gone < 0 ? gone : !gone, "the interface of %s", device->name);
}

static bool add(struct ifbs *ifbs, const struct registrations *regs, const struct device *device,
		bool is_recorded)
{
	struct ifb *ifb = &ifbs->of[ifbs->count];
	int found, whole = 1;

	*ifb = (struct ifb){ .ifindex = device->ifindex, .interface = device->key.ifindex };
	memcpy(ifb->name, device->name, sizeof(ifb->name));
	found = has_interface(regs, device, is_recorded, ifb->ifname);
	if (found > 0 && is_recorded)
		whole = is_whole(regs, device);
	if (found < 0 || whole < 0)
		return false;
	if (!found) {
		ifb->state = IFB_ORPHANED;
		memcpy(ifb->ifname, ifb->name, sizeof(ifb->ifname));
	} else if (!whole) {
		ifb->state = IFB_UNFINISHED;
	}
	ifbs->count++;
	return true;
}

static bool add_recorded(struct ifbs *ifbs, const struct registrations *regs)
{
	struct dualpi2_key keys[DEVICES_MAX];
	const size_t count = devices_recorded(&ifb_kind, keys);
	struct device device;

	for (size_t i = 0; i < count && ifbs->count < DUALPI2_MAX_INSTANCES; i++) {
		if (keys[i].netns != netns_current())
			continue;
		if (!device_find(&ifb_kind, &keys[i], &device) ||
		    (device.ifindex && !add(ifbs, regs, &device, true)))
			return false;
	}
	return true;
}

struct adding {
	struct ifbs *ifbs;
	const struct registrations *regs;
	bool failed;
};

/* One that the ledger does not have, or not for us. */
static void add_by_alias(const struct link *link, void *data)
{
	struct adding *adding = data;
	struct device device = { .kind = &ifb_kind, .ifindex = link->ifindex };

	if (strcmp(link->kind, ifb_kind.kind) || ifbs_find(adding->ifbs, link->ifindex) ||
	    adding->ifbs->count == DUALPI2_MAX_INSTANCES ||
	    !device_read_alias(&ifb_kind, link->alias, &device.key.ifindex))
		return;
	memcpy(device.name, link->name, sizeof(device.name));
	adding->failed |= !add(adding->ifbs, adding->regs, &device, false);
}

bool ifbs_read(const struct registrations *regs, struct ifbs *ifbs)
{
	struct adding adding = { .ifbs = ifbs, .regs = regs };

	ifbs->count = 0;
	return add_recorded(ifbs, regs) && link_each(ifb_kind.kind, add_by_alias, &adding) &&
	       !adding.failed;
}
