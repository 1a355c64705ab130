// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/left_over.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/maps.h"

int splitter_is_left_over(const struct registrations *regs, const struct dualpi2_key *key)
{
	int lives;

	if (key->netns != netns_current())
		return netns_is_gone(regs, key->netns);
	lives = instance_lives(regs, key);
	return lives < 0 ? lives : !lives;
}

/* To whom it is told, and from what it is known. */
struct telling {
	const struct registrations *regs;
	void (*tell)(const char *text);
};

static void __attribute__((format(printf, 2, 3))) tell(const struct telling *telling,
						       const char *format, ...)
{
	char text[192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	telling->tell(text);
}

static void tell_ifb(const struct telling *telling, const struct ifb *ifb)
{
	struct link interface;

	if (ifb->state == IFB_ORPHANED)
		tell(telling, "%s " LEFT_OVER, ifb->name, ifb->name);
	else if (ifb->state == IFB_CUT_OFF && link_look((int)ifb->interface, &interface) > 0)
		tell(telling,
		     "%s gets no packets: its interface is gone, or somebody detached our program "
		     "from it: `dualpi2-load %s --ingress --unload` removes it",
		     ifb->name, interface.name);
	else if (ifb->state == IFB_UNFINISHED)
		tell(telling,
		     "%s is unfinished, or somebody has changed it: `dualpi2-load %s --ingress "
		     "--unload` removes it",
		     ifb->name, ifb->ifname);
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
		tell(telling, "%s " LEFT_OVER, splitter->name, splitter->name);
	else if (found > 0 && useless)
		tell(telling,
		     "%s splits GSO packets for no qdisc: `dualpi2-load %s --unload --if-attached` "
		     "removes it",
		     splitter->name, interface.name);
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
