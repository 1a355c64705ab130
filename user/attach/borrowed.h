/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings of a user's interface that we change and put back. */
#ifndef BORROWED_H
#define BORROWED_H

#include <stdbool.h>

#include "dualpi2.h"

/* What to have the interface do less of; with a limit of 1, not at all. */
enum setting {
	SETTING_NO_GSO, /* gso_max_segs: local senders make GSO packets */
	SETTING_NO_GRO, /* gro_max_size: received packets are merged */
};

/* Lower a setting to a limit, or if that was done already, to another one. The value that it had
 * before us is remembered first. What somebody else has set since stays, but for that value: with
 * it a run of ours has ended early.
 */
bool setting_borrow(const struct dualpi2_key *key, enum setting setting, __u32 limit);

/* Put it back, unless somebody else has changed it since. */
bool setting_return(const struct dualpi2_key *key, enum setting setting);

/* Is it changed: 1, 0, or -errno, which is reported. */
int setting_is_borrowed(const struct dualpi2_key *key, enum setting setting);

#endif /* BORROWED_H */
