/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers in force: their plans and addresses, and what they use. */
#ifndef SHOW_SUBSCRIBERS_H
#define SHOW_SUBSCRIBERS_H

#include "pinned/registration.h"
#include "sample/sample.h"

/* Whom to show, and how. */
struct subscribers_shown {
	const char *name;  /* only the one of this name; NULL: all */
	unsigned long top; /* only so many that use most; 0: all, in the order of the file */
	bool json;
};

/* Those of each qdisc of the list, for people, who see the last second, too, for which it waits, or
 * as an array of objects. False: nobody is there, which is no failure in JSON, or they may not be
 * seen or could not be read: it is reported.
 */
bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const struct subscribers_shown *shown);

#endif /* SHOW_SUBSCRIBERS_H */
