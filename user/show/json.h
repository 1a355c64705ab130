/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples as JSON: an object per instance (for an mq another one, of kind mq, with the sums), with
 * the keys and units that `tc -j -s qdisc show` has for dualpi2, and more.
 */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

#include "sample/sample.h"

/* What delays are told with: `bins` are those of the histogram that hold a packet. */
enum json_delays {
	JSON_QUANTILES,
	JSON_BINS,
};

/* An array of them on stdout. */
void json_print(const struct samples *samples, enum json_delays delays);

/* To be called first, once, for the next: where the lines go. */
void json_begin_lines(FILE *file);

/* The objects of `samples`, each with what happened in its interval, a line each, which is written
 * with one write(2): no signal leaves half of one.
 */
void json_print_lines(FILE *file, const struct samples *samples, const struct samples *intervals,
		      enum json_delays delays);

#endif /* JSON_H */
