/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom the guard keeps out of L (include/guard.h). Whoever asks looks through the table of flows
 * itself: no packet and no update of the AQM has to count them. Only who may open the pins can.
 */
#ifndef CONVICTS_H
#define CONVICTS_H

#include "pinned/registration.h"
#include "sample/sample.h"

/* What the maps of a registration have. */
struct court {
	__u64 taken_ns;
	const struct dualpi2_flow *flows; /* DUALPI2_FLOWS, as they change */
	struct dualpi2_conviction
		*convictions; /* DUALPI2_CONVICTIONS; NULL: they were not asked for */
};

/* Read them: 1; 0: not open, so it is unknown who is convicted; or -errno. `with_convictions`: and
 * who that is. court_free() after 1.
 */
int court_read(const struct registration *reg, bool with_convictions, struct court *court);
void court_free(struct court *court);

/* What the guard of a qdisc does now. */
struct guarded guarded_at(const struct court *court, const struct sample *sample);

/* Set `guarded` of all samples. Reports nothing: what cannot be read is not known. */
void guarded_look(const struct registrations *regs, struct samples *list);

/* A flow that was convicted. */
struct convict {
	const struct dualpi2_conviction *conviction; /* its latest */
	bool is_out;				     /* it still is: of its qdisc's C queue, then */
	__u64 left_ns; /* of its term; 0 if it is out: until C has sent what it has of it */
};

/* Those of a qdisc, the latest first, of the convictions that are kept. Writes to `convicts`, which
 * has room for DUALPI2_CONVICTIONS, and returns how many.
 */
size_t convicts_of(const struct court *court, const struct sample *sample,
		   struct convict *convicts);

#endif /* CONVICTS_H */
