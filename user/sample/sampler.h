/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of the live qdiscs of this network namespace, or of one interface: one, or one after
 * another.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "interface/ifb.h"
#include "kernel/link.h"
#include "pinned/pin_dir.h"
#include "pinned/registration.h"
#include "sample/sample.h"

struct sampler {
	const char *ifname; /* NULL: all */
	bool queues;	    /* also those that share a link, below their sum */
	struct link link;   /* that which has been meant (sampler_link()) */
	struct registrations regs;
	struct ifbs ifbs;   /* at the last sample */
	const char *hidden; /* why we cannot see which AQMs are registered, and what helps; NULL:
			     * we can
			     */
	char why[PINS_WHY_MAX];
};

/* Open what is needed for it and give up all rights but those of everybody. That there is no
 * such interface is a failure, that there is no qdisc is none.
 */
bool sampler_open(struct sampler *sampler, const char *ifname);

/* No qdisc is no failure; free() the items. A sampler lives on while interfaces, qdiscs and the
 * registration come and go.
 */
bool sampler_take(struct sampler *sampler, struct samples *list);

void sampler_close(struct sampler *sampler);

/* The interface that is meant, if not all are: still the one with which the sampler began, however
 * it is called now; if that is gone, one that has its name. 1; 0: there is none; -errno, which is
 * reported. It is `link` from now on.
 */
int sampler_link(struct sampler *sampler);

/* Open what is registered now; `regs` are others then. */
bool sampler_open_again(struct sampler *sampler);

/* Say that there is nothing to sample, and what helps. Always false. */
bool sampler_has_nothing(struct sampler *sampler);

/* Called with a sample that has what happened since the one before it, and is not the visitor's to
 * keep. False ends it.
 */
typedef bool (*follow_visit)(const struct samples *samples, void *data);

/* Take a sample every `interval_ns`, `count` times (0: without end) or until a signal
 * (clock.h). That there is nothing to begin with is a failure.
 */
bool follow(struct sampler *sampler, uint64_t interval_ns, uint64_t count, follow_visit visit,
	    void *data);

#endif /* SAMPLER_H */
