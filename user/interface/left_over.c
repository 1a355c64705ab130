// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/left_over.h"

#include <stdio.h>

#include "interface/splitter.h"
#include "cli/message.h"

#define TEXT_MAX 192

/* To whom it is told, and from what it is known. */
struct telling {
	const struct registrations *regs;
	void (*tell)(const char *text);
};

/* Of an interface that is gone. */
static void tell_orphan(const struct telling *telling, const char *name)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "%s is left over of an interface that is gone: `ip link del %s` removes it", name,
		 name);
	telling->tell(text);
}

/* Of an interface that has the number of its own. */
static void tell_cut_off(const struct telling *telling, const struct ifb *ifb)
{
	struct link interface;
	char text[TEXT_MAX];

	if (link_look((int)ifb->interface, &interface) <= 0)
		return;
	snprintf(text, sizeof(text),
		 "%s gets no packets: its interface is gone, or somebody detached our program from "
		 "it: `dualpi2-load %s --ingress --unload` removes it",
		 ifb->name, interface.name);
	telling->tell(text);
}

static void tell_ifb(const struct telling *telling, const struct ifb *ifb)
{
	char text[TEXT_MAX];

	if (ifb->state == IFB_ORPHANED) {
		tell_orphan(telling, ifb->name);
	} else if (ifb->state == IFB_CUT_OFF) {
		tell_cut_off(telling, ifb);
	} else if (ifb->state == IFB_UNFINISHED) {
		snprintf(text, sizeof(text),
			 "%s is unfinished, or somebody has changed it: `dualpi2-load %s --ingress "
			 "--unload` removes it",
			 ifb->name, ifb->ifname);
		telling->tell(text);
	}
}

static void tell_idle_splitter(const struct telling *telling, const struct device *splitter,
			       const char *ifname)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "%s splits GSO packets for no qdisc: `dualpi2-load %s --unload --if-attached` "
		 "removes it",
		 splitter->name, ifname);
	telling->tell(text);
}

/* Only with the ledger we may see whether its interface has a qdisc of ours. */
static bool tell_splitter(const struct device *splitter, bool is_recorded, void *data)
{
	const struct telling *telling = data;
	int useless = is_recorded ? splitter_is_left_over(telling->regs, &splitter->key) : 0;
	struct link interface = {};
	int found;

	if (expect_known(useless, "the qdisc of %s", splitter->name) < 0)
		return false;
	if (is_recorded && !useless)
		return true;
	found = link_look((int)splitter->key.ifindex, &interface);
	if (!found)
		tell_orphan(telling, splitter->name);
	else if (found > 0 && useless)
		tell_idle_splitter(telling, splitter, interface.name);
	return found >= 0;
}

bool left_over_each(const struct registrations *regs, const struct ifbs *ifbs,
		    void (*tell)(const char *text))
{
	struct telling telling = { .regs = regs, .tell = tell };

	for (size_t i = 0; i < ifbs->count; i++)
		tell_ifb(&telling, &ifbs->of[i]);
	return devices_each(&splitter_kind, tell_splitter, &telling);
}
