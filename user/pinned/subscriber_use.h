/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs count of the subscribers of a live qdisc. */
#ifndef SUBSCRIBER_USE_H
#define SUBSCRIBER_USE_H

#include "pinned/subscriber_maps.h"
#include "subscribers.h"

/* By number, of all numbers that there is room for: free() it. NULL: it is reported why it cannot
 * be read.
 */
struct subscriber_use *subscriber_use_read(const struct subscriber_maps *maps);

#endif /* SUBSCRIBER_USE_H */
