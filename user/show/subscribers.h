/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subscribers in force, with their plans and addresses. */
#ifndef SHOW_SUBSCRIBERS_H
#define SHOW_SUBSCRIBERS_H

#include "pinned/registration.h"
#include "sample/sample.h"

/* Those of each qdisc of the list, or (`name`) one of them, for people or as an array of objects.
 * False: nobody is there, which is no failure in JSON, or they may not be seen or could not be
 * read: it is reported.
 */
bool subscribers_print(const struct registrations *regs, const struct samples *list,
		       const char *name, bool json);

#endif /* SHOW_SUBSCRIBERS_H */
