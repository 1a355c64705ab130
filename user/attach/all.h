/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All interfaces of this network namespace, and what of us is on them. */
#ifndef ALL_H
#define ALL_H

#include "attach/outcome.h"
#include "kernel/link.h"

/* An interface, with the programs on it that look like ours. */
struct one {
	struct link link;
	struct tcx_ours tcx;
};

struct all {
	struct one *of;
	size_t count;
};

/* Read them. To be freed with all_free(), also if that fails, which is reported. */
bool all_read(struct all *all);
void all_free(struct all *all);

/* Is anything of us on an interface, at its root, at its tcx hooks or as an ifb? 1; 0, as for a
 * device that we made, or if it has just gone; -errno, which is reported.
 */
int one_has_ours(const struct one *one);

/* Tell of what is attached for an interface, in both directions (OUTCOME_LIVE). Adds to `count` how
 * many that are. False: that cannot be seen, which is reported.
 */
bool one_tell(const struct registrations *regs, const struct one *one, outcome_tell *tell,
	      size_t *count);

#endif /* ALL_H */
