/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of prefixes, as both formats have them. */
#ifndef SUBSCRIBERS_PREFIXES_H
#define SUBSCRIBERS_PREFIXES_H

#include "subscribers/list.h"

/* "192.0.2.7,2001:db8:1::/48", with blanks or without, or SUBSCRIBER_OTHERS: give them to a
 * subscriber. The text is cut. False: it was reported what is wrong.
 */
bool subscribers_take_prefixes(struct subscribers *list, struct subscriber *owner, char *text);

#endif /* SUBSCRIBERS_PREFIXES_H */
