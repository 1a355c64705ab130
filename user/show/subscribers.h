/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers in force: their plans and addresses, and what they use. */
#ifndef SHOW_SUBSCRIBERS_H
#define SHOW_SUBSCRIBERS_H

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
	size_t top; /* only so many that use most; 0: all, in the order of the file; in metrics
		     * 1000
		     */
};

/* Those of each qdisc of the list. False: nobody is there, which is a failure in a table only, or
 * they may not be seen or could not be read: it is reported.
 */
bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const struct subscribers_shown *shown);

/* The metrics of those of so many qdiscs. */
bool subscriber_metrics_print(const struct crowd *crowds, size_t count, size_t top,
			      enum exposition exposition);

#endif /* SHOW_SUBSCRIBERS_H */
