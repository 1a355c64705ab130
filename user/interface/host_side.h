/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --per-host auto: on which side of an interface are the hosts or subscribers that are to have
 * queues of their own?
 */
#ifndef HOST_SIDE_H
#define HOST_SIDE_H

#include "interface/target.h"

/* Put what is found in the place of auto. `why`: in a sentence what was found; NULL: nothing had to
 * be.
 */
bool host_side_decide(const struct target *target, struct dualpi2_params *params, const char **why);

#endif /* HOST_SIDE_H */
