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
	bool is_counter;
	bool is_signed;	     /* which is only of 4 bytes */
	size_t offset, size; /* of the member */
};

/* A row as an initializer: `inside_` is where in the struct the members are. */
#define STAT_ROW(struct_, inside_, counter_, type_, member_, unit_, key_, metric_, meaning_)   \
	STAT_ROW_AT(offsetof(struct_, inside_ member_), counter_, type_, member_, unit_, key_, \
		    metric_, meaning_)
#define STAT_ROW_AT(offset_, counter_, type_, member_, unit_, key_, metric_, meaning_) \
	{ .member = #member_,                                                          \
	  .unit = (unit_),                                                             \
	  .key = (key_),                                                               \
	  .metric = (metric_),                                                         \
	  .meaning = (meaning_),                                                       \
	  .is_counter = (counter_),                                                    \
	  .is_signed = (type_) - 1 < 1,                                                \
	  .offset = (offset_),                                                         \
	  .size = sizeof(type_) },

/* Of struct dualpi2_queue, and of struct dualpi2_stats; both end with a row without a member. */
extern const struct stat_row queue_rows[];
extern const struct stat_row qdisc_rows[];

/* Is it a time, in ns? */
bool stat_is_time(const struct stat_row *row);

/* The value in the struct that the row is of. */
int64_t stat_value(const struct stat_row *row, const void *of);

/* The same for people, as format.h writes it: a time, or a number. In `text` (FORMAT_MAX bytes),
 * which is returned.
 */
const char *stat_text(const struct stat_row *row, const void *of, char *text);

/* Add to each member that of `more`, a struct of the same kind. */
void stat_add(const struct stat_row *rows, void *to, const void *more);

/* What counters have grown by since `earlier`. Of two copies that were published at the same
 * moment the older one may stay (docs/design.md, Many CPUs), so a counter may seem to go back by
 * what passed in that moment: then it has not grown.
 */
void stat_subtract(const struct stat_row *rows, void *from, const void *earlier);

#endif /* STAT_H */
