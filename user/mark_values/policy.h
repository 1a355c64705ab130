/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies: a file (dualpi2-mark-values(8)) says which packets get which values. */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>

#include "vdq/mark_values.h"

#define POLICY_DEFAULT "silver"

/* By DSCP. */
struct policies {
	struct value_policy of[MARK_VALUES_DSCPS];
};

/* `path`: NULL: all packets are silver. False: it was reported what is wrong. */
bool policies_read(const char *path, struct policies *policies);

#endif /* POLICY_H */
