/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of include/stats.h as tables: what is counted and measured. */
#ifndef STAT_H
#define STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dualpi2.h"

struct stat_row {
	const char *member, *unit, *key, *metric, *meaning; /* as in stats.h */
	bool is_counter, is_signed;
	size_t offset, size; /* of the member */
};

/* Of struct dualpi2_queue, and of struct dualpi2_stats; both end with a row without a member. */
extern const struct stat_row queue_rows[];
extern const struct stat_row qdisc_rows[];

/* The value in the struct that the row is of. */
int64_t stat_value(const struct stat_row *row, const void *of);

/* Add to each member that of `more`, a struct of the same kind. */
void stat_add(const struct stat_row *rows, void *to, const void *more);

/* What counters have grown by since `earlier`. Of two copies that were published at the same
 * moment the older one may stay (docs/design.md, Many CPUs), so a counter may seem to go back by
 * what passed in that moment: then it has not grown.
 */
void stat_subtract(const struct stat_row *rows, void *from, const void *earlier);

#endif /* STAT_H */
