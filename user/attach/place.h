/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Qdiscs come to the root of an interface and to the queues of an mq, and go again (root.h). */
#ifndef PLACE_H
#define PLACE_H

#include "attach/many.h"
#include "interface/target.h"

/* The qdisc for the root, but for its kind: of one of ours that it takes the place of it keeps the
 * handle, unless another one is requested, and the size table.
 */
struct qdisc place_plan(const struct target *target, const struct request *request);

/* Put that at the root, with its maps, or with `mq` an mq and a qdisc below it for each queue in
 * use. What somebody configured only goes with `replace`. What fails has put back what was there,
 * but for the queues of an mq.
 */
bool place_qdiscs(const struct registration *reg, struct target *target, bool mq,
		  struct qdisc *plan, const struct many_maps *maps, bool replace);

/* Give each queue in use of an mq that has no qdisc of this AQM one. */
bool place_missing(const struct registration *reg, const struct target *target);

/* Take our qdisc from the root: `prior` takes its place, or if that is of no kind the kernel's
 * automatic one.
 */
bool place_former(const struct target *target, const struct qdisc *prior);

#endif /* PLACE_H */
