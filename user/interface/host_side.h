/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --per-host auto: on which side of an interface are the hosts that are to have a share each? */
#ifndef HOST_SIDE_H
#define HOST_SIDE_H

#include "interface/target.h"

/* Put what is found in the place of auto. */
bool host_side_decide(const struct target *target, struct dualpi2_params *params);

/* What was found and why, in a sentence; NULL: nothing had to be. */
const char *host_side_text(const struct target *target, const struct request *request,
			   const struct dualpi2_params *params);

#endif /* HOST_SIDE_H */
