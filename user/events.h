/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Overload events as they happen (RFC 9332, 2.5.2.3), a line each on stdout. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>

#include "registration.h"

/* Print the events of this network namespace, of all interfaces or (ifindex not 0) of one,
 * until SIGINT, SIGHUP or SIGTERM: those that nobody has read yet, then each as it comes.
 * False, with a report (message.h), on failure and when the kind is no longer
 * registered.
 */
bool events_follow(const struct registration *reg, unsigned int ifindex, bool json);

#endif /* EVENTS_H */
