/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices of ours in this network namespace that are of no use: an interface is gone, a
 * dualpi2-load was interrupted, somebody has changed one.
 */
#ifndef LEFT_OVER_H
#define LEFT_OVER_H

#include "interface/ifb.h"

/* Has the interface of this key no qdisc of ours any more? 1, 0 or -errno. Of another network
 * namespace: has that ended? Its devices are for a loader there.
 */
int splitter_is_left_over(const struct registrations *regs, const struct dualpi2_key *key);

/* Say of each which it is and how it goes; `ifbs` have been read. False: it is reported why they
 * cannot be seen. Without the right to read the ledger only those can be told of which the
 * interface is gone.
 */
bool left_over_each(const struct registrations *regs, const struct ifbs *ifbs,
		    void (*tell)(const char *text));

#endif /* LEFT_OVER_H */
