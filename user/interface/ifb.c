// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/ifb.h"

#include <errno.h>
#include <string.h>

#include "cli/message.h"
#include "interface/tree.h"
#include "pinned/ledger.h"
#include "pinned/tcx.h"

const struct ifb *ifbs_find(const struct ifbs *ifbs, __u32 ifindex)
{
	for (size_t i = 0; i < ifbs->count; i++) {
		if (ifbs->of[i].ifindex == ifindex)
			return &ifbs->of[i];
	}
	return NULL;
}

bool ifb_belongs_to(const struct ifb *ifb, __u32 interface)
{
	return ifb->interface == interface && ifb->state != IFB_CUT_OFF &&
	       ifb->state != IFB_ORPHANED;
}

/* Do packets come to it, and is a qdisc of ours there? 1, 0, or -errno, which is reported. */
static int is_whole(const struct registrations *regs, const struct device *device)
{
	const struct dualpi2_key key = interface_key(&device->key);
	struct tree tree = {};
	int fed = 0;

	for (size_t i = 0; !fed && i < regs->count; i++)
		fed = tcx_look(&regs->of[i], &key, TCX_INGRESS);
	if (fed <= 0)
		return fed;
	if (!tree_read((int)device->ifindex, &tree))
		return -EIO;
	fed = tree_aqm(&tree) != NULL;
	tree_free(&tree);
	return fed;
}

/* Find its state and, if its interface is still there, the interface's name. False: unknown, which
 * is reported. Without the ledger we see only whether an interface has the number.
 */
static bool read_state(const struct registrations *regs, const struct device *device,
		       bool is_recorded, struct ifb *ifb)
{
	const struct dualpi2_key key = interface_key(&device->key);
	struct link interface = {};
	int found = link_look((int)key.ifindex, &interface);
	int gone = found > 0 && is_recorded ? interface_is_gone(regs, &key, TCX_INGRESS) : 0;
	int whole = found > 0 && is_recorded && !gone ? is_whole(regs, device) : 1;

	if (found < 0 || whole < 0 || expect_known(gone, "the interface of %s", device->name) < 0)
		return false;
	ifb->state = !found  ? IFB_ORPHANED
		     : gone  ? IFB_CUT_OFF
		     : whole ? IFB_WHOLE
			     : IFB_UNFINISHED;
	memcpy(ifb->ifname, found && !gone ? interface.name : device->name, sizeof(ifb->ifname));
	return true;
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

	if (ifbs->count == DUALPI2_MAX_INSTANCES)
		return true;
	*ifb = (struct ifb){ .ifindex = device->ifindex, .interface = device->key.ifindex };
	memcpy(ifb->name, device->name, sizeof(ifb->name));
	if (!read_state(reading->regs, device, is_recorded, ifb))
		return false;
	ifbs->count++;
	return true;
}

bool ifbs_read(const struct registrations *regs, struct ifbs *ifbs)
{
	struct reading reading = { .ifbs = ifbs, .regs = regs };

	ifbs->count = 0;
	return devices_each(&ifb_kind, add, &reading);
}
