/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line for each subscriber of a qdisc. */
#ifndef WATCH_SUBSCRIBER_LIST_H
#define WATCH_SUBSCRIBER_LIST_H

#include <stddef.h>

#include "sample/crowd.h"
#include "sample/sampler.h"
#include "watch/live.h"

struct subscriber_watcher {
	struct live live; /* first */
	struct sampler *sampler;
	struct samples now;   /* the newest sample */
	struct crowds crowds; /* of its qdiscs */
	size_t shown;	      /* which of them */
	/* Whom that has, in this order, with room for those of any of them. */
	const struct subscriber **sorted;
	size_t count;
	enum crowd_order order;
	size_t first; /* of those that are sorted, on the uppermost line, if so many follow it */
};

/* The key that sorts by it, and what that is called. */
struct subscriber_order {
	char key;
	const char *name;
};

extern const struct subscriber_order subscriber_orders[N_CROWD_ORDERS];

/* Of the screen, for subscribers. */
size_t subscriber_list_lines(void);

void subscriber_list_draw(const struct live *live);

void subscriber_list_draw_help(void);

#endif /* WATCH_SUBSCRIBER_LIST_H */
