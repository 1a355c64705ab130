/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Overload events as they happen (RFC 9332, 2.5.2.3), a line each on stdout. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>

#include "pinned/registration.h"

/* Print each event as it comes, of all network namespaces, because reading takes it from the
 * buffer, or (ifindex not 0) of one interface, until SIGINT, SIGHUP or SIGTERM. False,
 * with a report (message.h), on failure and when the kind is no longer registered.
 */
bool events_follow(const struct registrations *regs, unsigned int ifindex, bool json);

#endif /* EVENTS_H */
