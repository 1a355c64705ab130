// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/left_over.h"

#include <stdio.h>
#include <string.h>

#include "attach/ifb.h"
#include "attach/splitter.h"
#include "cli/message.h"
#include "kernel/netns.h"

#define TEXT_MAX 192

/* While they are looked for. */
struct search {
	const struct registrations *regs;
	void (*tell)(const char *text);
	__u32 known[DEVICES_MAX]; /* splitters that the ledger has */
	size_t count;
	bool failed;
};

/* Of an interface that is gone. */
static void tell_orphan(const struct search *search, const char *name)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "%s is left over of an interface that is gone: `ip link del %s` removes it", name,
		 name);
	search->tell(text);
}

/* ---- ifb devices ------------------------------------------------------------------ */

static void tell_ifb(const struct search *search, const struct ifb *ifb)
{
	char text[TEXT_MAX];

	if (ifb->state == IFB_ORPHANED) {
		tell_orphan(search, ifb->name);
	} else if (ifb->state == IFB_UNFINISHED) {
		snprintf(text, sizeof(text),
			 "%s is unfinished, or somebody has changed it: `dualpi2-load %s --ingress "
			 "--unload` removes it",
			 ifb->name, ifb->ifname);
		search->tell(text);
	}
}

static bool tell_ifbs(const struct search *search)
{
	static struct ifbs ifbs; /* too large for the stack */

	if (!ifbs_read(search->regs, &ifbs))
		return false;
	for (size_t i = 0; i < ifbs.count; i++)
		tell_ifb(search, &ifbs.of[i]);
	return true;
}

/* ---- GSO splitters ------------------------------------------------------------------ */

/* Its interface has no qdisc of ours, or is gone. */
static bool tell_splitter(const struct search *search, const struct device *splitter)
{
	struct link interface = {};
	char text[TEXT_MAX];
	int found = link_look((int)splitter->key.ifindex, &interface);

	if (!found) {
		tell_orphan(search, splitter->name);
	} else if (found > 0) {
		snprintf(text, sizeof(text),
			 "%s splits GSO packets for no qdisc: `dualpi2-load %s --unload "
			 "--if-attached` removes it",
			 splitter->name, interface.name);
		search->tell(text);
	}
	return found >= 0;
}

static bool look_at_recorded(struct search *search, const struct dualpi2_key *key)
{
	struct device splitter;
	int useless;

	if (key->netns != netns_current())
		return true;
	if (!device_find(&splitter_kind, key, &splitter))
		return false;
	if (!splitter.ifindex)
		return true;
	search->known[search->count++] = splitter.ifindex;
	useless = splitter_is_left_over(search->regs, key);
	if (expect_known(useless, "the qdisc of %s", splitter.name) < 0)
		return false;
	return !useless || tell_splitter(search, &splitter);
}

static bool is_known(const struct search *search, __u32 ifindex)
{
	for (size_t i = 0; i < search->count; i++) {
		if (search->known[i] == ifindex)
			return true;
	}
	return false;
}

/* One that the ledger does not have, or not for us. */
static void look_at_alias(const struct link *link, void *data)
{
	struct search *search = data;
	struct link interface;
	__u32 ifindex;

	if (is_known(search, link->ifindex) ||
	    !device_read_alias(&splitter_kind, link->alias, &ifindex))
		return;
	switch (link_look((int)ifindex, &interface)) {
	case 1:
		break;
	case 0:
		tell_orphan(search, link->name);
		break;
	default:
		search->failed = true;
	}
}

static bool tell_splitters(struct search *search)
{
	struct dualpi2_key keys[DEVICES_MAX];
	const size_t count = devices_recorded(&splitter_kind, keys);

	for (size_t i = 0; i < count; i++) {
		if (!look_at_recorded(search, &keys[i]))
			return false;
	}
	return link_each(splitter_kind.kind, look_at_alias, search) && !search->failed;
}

bool left_over_each(const struct registrations *regs, void (*tell)(const char *text))
{
	struct search search = { .regs = regs, .tell = tell };

	return tell_ifbs(&search) && tell_splitters(&search);
}
