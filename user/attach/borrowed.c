// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/borrowed.h"

#include <errno.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/link.h"
#include "pinned/ledger.h"

#define LEAST 1U /* what a setting is changed to */

void setting_forget(const struct dualpi2_key *key)
{
	ledger_erase(LEDGER_SETTINGS, key);
}

static bool write_prior(const struct dualpi2_key *key, const struct prior_settings *prior)
{
	if (prior->gso_max_segs || prior->gro_max_size)
		return ledger_write(LEDGER_SETTINGS, key, prior);
	setting_forget(key);
	return true;
}

static bool remembers(const struct prior_settings *prior, enum setting setting)
{
	return setting == SETTING_NO_GSO ? prior->gso_max_segs : prior->gro_max_size;
}

bool setting_borrow(const struct dualpi2_key *key, enum setting setting)
{
	struct link_change change = {};
	struct prior_settings prior;
	struct link link;

	if (ledger_read(LEDGER_SETTINGS, key, &prior) < 0)
		return false;
	if (remembers(&prior, setting))
		return true;
	if (!link_expect((int)key->ifindex, "the interface", &link))
		return false;
	if (setting == SETTING_NO_GSO) {
		prior.gso_max_segs = link.gso_max_segs;
		change.gso_max_segs = LEAST;
	} else {
		prior.gro_max_size = link.gro_max_size;
		prior.gro_ipv4_max_size = link.gro_ipv4_max_size;
		change.gro_max_size = change.gro_ipv4_max_size = LEAST;
	}
	return write_prior(key, &prior) && link_change(key->ifindex, &change);
}

/* The value to put back; 0, for none, unless the one in force is ours. */
static uint32_t to_return(uint32_t prior, uint32_t now)
{
	return now == LEAST ? prior : 0;
}

bool setting_return(const struct dualpi2_key *key, enum setting setting)
{
	struct link_change change = {};
	struct prior_settings prior;
	struct link link;
	int found;

	if (ledger_read(LEDGER_SETTINGS, key, &prior) < 0)
		return false;
	if (!remembers(&prior, setting))
		return true;
	found = link_look((int)key->ifindex, &link);
	if (found <= 0)
		return !found;
	if (setting == SETTING_NO_GSO) {
		change.gso_max_segs = to_return(prior.gso_max_segs, link.gso_max_segs);
		prior.gso_max_segs = 0;
	} else {
		change.gro_max_size = to_return(prior.gro_max_size, link.gro_max_size);
		change.gro_ipv4_max_size =
			to_return(prior.gro_ipv4_max_size, link.gro_ipv4_max_size);
		prior.gro_max_size = prior.gro_ipv4_max_size = 0;
	}
	return link_change(key->ifindex, &change) && write_prior(key, &prior);
}

int setting_is_borrowed(const struct dualpi2_key *key, enum setting setting)
{
	struct prior_settings prior;
	int found = ledger_read(LEDGER_SETTINGS, key, &prior);

	return found > 0 ? remembers(&prior, setting) : found;
}
