/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The netkit devices that split GSO packets (gso.h): what they are, and whether one is of use. */
#ifndef SPLITTER_H
#define SPLITTER_H

#include "interface/device.h"

extern const struct device_kind splitter_kind;

/* Has the interface of this key no qdisc of ours any more? 1, 0 or -errno. Of another network
 * namespace: has that ended? Its devices are for a loader there.
 */
int splitter_is_left_over(const struct registrations *regs, const struct dualpi2_key *key);

#endif /* SPLITTER_H */
