// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/ifb.h"

#include <errno.h>
#include <string.h>

#include "cli/message.h"
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

/* While they are read. */
struct reading {
	struct ifbs *ifbs;
	const struct registrations *regs;
};

static bool add(const struct device *device, bool is_recorded, void *data)
{
	const struct reading *reading = data;
	struct ifbs *ifbs = reading->ifbs;
	struct ifb *ifb = &ifbs->of[ifbs->count];
	int found, whole = 1;

	if (ifbs->count == DUALPI2_MAX_INSTANCES)
		return true;
	*ifb = (struct ifb){ .ifindex = device->ifindex, .interface = device->key.ifindex };
	memcpy(ifb->name, device->name, sizeof(ifb->name));
	found = has_interface(reading->regs, device, is_recorded, ifb->ifname);
	if (found > 0 && is_recorded)
		whole = is_whole(reading->regs, device);
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

bool ifbs_read(const struct registrations *regs, struct ifbs *ifbs)
{
	struct reading reading = { .ifbs = ifbs, .regs = regs };

	ifbs->count = 0;
	return devices_each(&ifb_kind, add, &reading);
}
