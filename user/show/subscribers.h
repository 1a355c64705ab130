/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers in force: their plans and addresses, and what they use. */
#ifndef SHOW_SUBSCRIBERS_H
#define SHOW_SUBSCRIBERS_H

#include "cli/clean.h"
#include "cli/format.h"
#include "pinned/registration.h"
#include "sample/crowd.h"
#include "sample/sample.h"
#include "show/show.h"

enum subscribers_form {
	SUBSCRIBERS_TABLE, /* for people, with the last second, for which it waits */
	SUBSCRIBERS_JSON,  /* an array of objects */
	SUBSCRIBERS_OPENMETRICS,
	SUBSCRIBERS_PROMETHEUS,
};

/* Whom to show, and how. */
struct subscribers_shown {
	enum subscribers_form form;
	const char *name; /* only the one of this name; NULL: all. Not in metrics */
	/* Only so many that use most, and nobody's addresses; 0: all, in the order of the file; in
	 * metrics 1000.
	 */
	size_t top;
};

/* Those of each qdisc of the list. False: nobody is there, which is a failure in a table only, or
 * they may not be seen or could not be read: it is reported.
 */
bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const struct subscribers_shown *shown);

bool subscriber_metrics_print(const struct crowds *crowds, size_t top, enum exposition exposition);

/* Say that no qdisc has any, and what helps. Always false. */
bool subscribers_have_none(void);

/* ---- cells: written to `text`, and returned -------------------------------------- */

/* The name as it may be shown: somebody else may have written to the map. Of crowd_nobody
 * SUBSCRIBER_NOBODY_TEXT.
 */
#define SUBSCRIBER_SHOWN_MAX CLEAN_MAX(SUBSCRIBER_NAME_SIZE)
#define SUBSCRIBER_NOBODY_TEXT "(nobody)"
const char *subscriber_shown(const struct subscriber *subscriber, char text[SUBSCRIBER_SHOWN_MAX]);

const char *subscriber_plan_text(const struct subscriber *subscriber, char text[FORMAT_MAX]);
const char *subscriber_parent_text(const struct subscriber *subscriber,
				   char text[SUBSCRIBER_SHOWN_MAX]);

/* "-": there was no packet, as a parent has none of its own. */
const char *subscriber_p99_text(const struct subscriber_queue *queue, char text[FORMAT_MAX]);

#endif /* SHOW_SUBSCRIBERS_H */
