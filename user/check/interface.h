/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is this the interface to attach to? What can be told from the interface alone. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdbool.h>

#include "aqm/aqm.h"
#include "dualpi2.h"
#include "kernel/link.h"

/* Show (report.h) what will work, but maybe not for what it is meant, at the root of an
 * interface with these parameters of an AQM. `is_mq`: with an instance for each of its queues.
 */
void interface_report(const struct link *link, const struct aqm *aqm,
		      const struct dualpi2_params *wanted, bool is_mq);

#endif /* INTERFACE_H */
