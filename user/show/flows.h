/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom the guard keeps out of the L queue. */
#ifndef SHOW_FLOWS_H
#define SHOW_FLOWS_H

#include "conviction.h"
#include "pinned/registration.h"
#include "sample/sample.h"
#include "show/json.h"

/* Of each qdisc of the list. False: it may not be seen, or could not be read, which is reported. */
bool flows_print(const struct registrations *regs, const struct samples *list, bool json);

/* The gauges of the guard: members of an object, null where they are not known. */
void flows_add_gauges(struct json_object *to, const struct guarded *guarded);

/* How long the queue was that it was convicted for. */
__u64 flows_delay_ns(const struct dualpi2_conviction *conviction);

/* Who was convicted, for how long, and why: members of an object. */
void flows_add_conviction(struct json_object *to, const struct dualpi2_conviction *conviction);

#endif /* SHOW_FLOWS_H */
