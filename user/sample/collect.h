/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of what lives now. */
#ifndef COLLECT_H
#define COLLECT_H

#include "pinned/registration.h"
#include "sample/sample.h"

/* Collect the instances of this network namespace, of all interfaces or (ifindex not
 * 0) of one. Returns false with a report (message.h) on failure; none is no failure.
 */
bool samples_collect(const struct registrations *regs, unsigned int ifindex, struct samples *list);

/* Does the kernel show a qdisc of a kind of ours, on all interfaces or (ifindex not 0) one: 1, and
 * `aqm` is the first one's; 0; or -errno, which is reported.
 */
int samples_look_for_kind(unsigned int ifindex, const struct aqm **aqm);

#endif /* COLLECT_H */
