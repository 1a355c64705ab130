/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a qdisc with many DualQs is to have besides: maps for its hosts, or for its subscribers. Of
 * another there are none.
 */
#ifndef MANY_H
#define MANY_H

#include "pinned/host_maps.h"
#include "pinned/subscriber_maps.h"
#include "subscribers/list.h"

struct many_maps {
	struct host_maps hosts;
	struct subscriber_maps subscribers;
};

/* Make them for one with these parameters, with these subscribers in them. */
bool many_make(const struct registration *reg, const struct dualpi2_params *params,
	       struct subscribers *subscribers, struct many_maps *maps);

/* Put them where the qdisc of this key, which is new, looks for them. */
bool many_put(const struct registration *reg, const struct dualpi2_key *key,
	      const struct many_maps *maps);

void many_close(struct many_maps *maps);

/* Closed at the end of its block. */
#define MANY_MAPS struct many_maps __attribute__((cleanup(many_close)))
#define MANY_NONE ((struct many_maps){ { -1, -1 }, SUBSCRIBER_MAPS_NONE })

#endif /* MANY_H */
