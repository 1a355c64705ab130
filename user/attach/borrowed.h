/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings of a user's interface that we change and put back. */
#ifndef BORROWED_H
#define BORROWED_H

#include <stdbool.h>

#include "dualpi2.h"

/* What to have the interface do without. */
enum setting {
	SETTING_NO_GSO, /* gso_max_segs 1: local senders make no GSO packets */
	SETTING_NO_GRO, /* gro_max_size 1: received packets are not merged */
};

/* Change a setting, whose value is remembered first. Nothing to do if that was done
 * already.
 */
bool setting_borrow(const struct dualpi2_key *key, enum setting setting);

/* Put it back, unless somebody else has changed it since. */
bool setting_return(const struct dualpi2_key *key, enum setting setting);

/* Is it changed: 1, 0, or -errno, which is reported. */
int setting_is_borrowed(const struct dualpi2_key *key, enum setting setting);

#endif /* BORROWED_H */
