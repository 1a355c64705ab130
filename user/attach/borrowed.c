// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/borrowed.h"

#include <sys/param.h>

#include "kernel/link.h"
#include "pinned/ledger.h"

/* Those of the kernel's settings that make one of ours. */
static const struct {
	enum link_setting first, last;
} parts[] = {
	[SETTING_NO_GSO] = { LINK_GSO_MAX_SEGS, LINK_GSO_MAX_SEGS },
	[SETTING_NO_GRO] = { LINK_GRO_MAX_SIZE, LINK_GRO_IPV4_MAX_SIZE },
};

static bool write_prior(const struct dualpi2_key *key, const struct prior_settings *prior)
{
	if (prior->of[LINK_GSO_MAX_SEGS] || prior->of[LINK_GRO_MAX_SIZE])
		return ledger_write(LEDGER_SETTINGS, key, prior);
	ledger_erase(LEDGER_SETTINGS, key);
	return true;
}

/* As setting_is_borrowed(), with all that is remembered. */
static int look_up(const struct dualpi2_key *key, enum setting setting,
		   struct prior_settings *prior)
{
	int found = ledger_read(LEDGER_SETTINGS, key, prior);

	return found > 0 ? prior->of[parts[setting].first] != 0 : found;
}

bool setting_borrow(const struct dualpi2_key *key, enum setting setting, __u32 limit)
{
	struct link_change change = {};
	struct prior_settings prior;
	struct link link;
	int borrowed = look_up(key, setting, &prior);

	if (borrowed < 0 || !link_expect((int)key->ifindex, "the interface", &link))
		return false;
	for (int i = parts[setting].first; i <= (int)parts[setting].last; i++) {
		if (!borrowed)
			prior.of[i] = link.settings[i];
		else if (link.settings[i] != prior.ours[i] && link.settings[i] != prior.of[i])
			continue; /* it is somebody else's */
		change.settings[i] = prior.ours[i] = MIN(prior.of[i], limit);
	}
	return write_prior(key, &prior) && link_change((int)key->ifindex, &change);
}

bool setting_return(const struct dualpi2_key *key, enum setting setting)
{
	struct link_change change = {};
	struct prior_settings prior;
	struct link link;
	int found = look_up(key, setting, &prior);

	if (found > 0)
		found = link_look((int)key->ifindex, &link);
	if (found <= 0)
		return !found;
	for (int i = parts[setting].first; i <= (int)parts[setting].last; i++) {
		if (link.settings[i] == prior.ours[i]) /* else it is somebody else's */
			change.settings[i] = prior.of[i];
		prior.of[i] = prior.ours[i] = 0;
	}
	return link_change((int)key->ifindex, &change) && write_prior(key, &prior);
}

int setting_is_borrowed(const struct dualpi2_key *key, enum setting setting)
{
	struct prior_settings prior;

	return look_up(key, setting, &prior);
}
