/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of DSCPs, by name or number, separated by commas; "none" is the empty set. A set has a bit
 * for each of its DSCPs.
 */
#ifndef DSCP_H
#define DSCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: one of them is no DSCP. */
bool dscps_read(const char *text, uint64_t *set);

/* Writes to `text` and returns it. */
const char *dscps_format(uint64_t set, char *text, size_t size);

#endif /* DSCP_H */
