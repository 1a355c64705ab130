/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened between two samples of a qdisc. It has the form of figures: counters and delays
 * are those of the interval (`span_ns`), all else is that of the later sample.
 */
#ifndef INTERVAL_H
#define INTERVAL_H

#include "sample/sample.h"

/* False: these are not two samples of one qdisc, the later one later. */
bool interval_between(const struct figures *earlier, const struct figures *later,
		      struct figures *interval);

/* The same of all qdiscs that both lists have; free() the items. False, with a report
 * (message.h), if there is no memory.
 */
bool interval_list(const struct figures_list *earlier, const struct figures_list *later,
		   struct figures_list *intervals);

/* The item of a list for the same place as `figures`; NULL: none. */
const struct figures *interval_find(const struct figures_list *list, const struct figures *figures);

double interval_seconds(const struct figures *interval);

/* Of something that was counted in the interval: so many a second. */
double interval_rate(const struct figures *interval, uint64_t count);

/* Of bytes that passed in the interval: bit/s. */
double interval_speed(const struct figures *interval, uint64_t bytes);

/* The share of the interval, 0 to 1, for which both queues have been empty, at least. While one
 * is not, a packet waits in it; so that time is no longer than what all packets have waited
 * together, which the histograms have to the nanosecond, and what the heads have waited so far.
 * 0 if packets were dropped: nobody knows how long those had waited.
 */
double interval_empty(const struct figures *interval);

#endif /* INTERVAL_H */
