/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What dualpi2-load says of what it has done. */
#ifndef SHOW_OUTCOME_H
#define SHOW_OUTCOME_H

#include "attach/outcome.h"

/* Print it (message.h), with what should be known of the parameters (report.h). */
void outcome_say(const struct outcome *outcome);

#endif /* SHOW_OUTCOME_H */
