// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/splitter.h"

#include "kernel/netns.h"
#include "pinned/maps.h"

const struct device_kind splitter_kind = {
	.purpose = DUALPI2_SPLITTER,
	.kind = NETKIT_KIND,
	.prefix = "gso",
	.peer_prefix = "gsx", /* the other end, which carries nothing */
	.about = "splits GSO packets of",
};

int splitter_is_left_over(const struct registrations *regs, const struct dualpi2_key *key)
{
	int lives;

	if (key->netns != netns_current())
		return netns_is_gone(regs, key->netns);
	lives = instance_lives(regs, key);
	return lives < 0 ? lives : !lives;
}
