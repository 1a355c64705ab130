/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened between two samples of a qdisc. It has the form of figures: counters and delays
 * are those of the interval (`span_ns`), all else is that of the later sample.
 */
#ifndef INTERVAL_H
#define INTERVAL_H

#include "sample/sample.h"

/* False: these are not two samples of one qdisc, the later one later. */
bool interval_between(const struct sample *earlier, const struct sample *later,
		      struct sample *interval);

/* The same of all qdiscs that both lists have; free() the items. False, with a report
 * (message.h), if there is no memory.
 */
bool interval_list(const struct samples *earlier, const struct samples *later,
		   struct samples *intervals);

/* The item of a list for the same place as `sample`; NULL: none. */
const struct sample *interval_find(const struct samples *list, const struct sample *sample);

double interval_seconds(const struct sample *interval);

/* Of something that was counted in the interval: so many a second. */
double interval_rate(const struct sample *interval, uint64_t count);

/* Of bytes that passed in the interval: bit/s. */
double interval_speed(const struct sample *interval, uint64_t bytes);

/* The share of the interval, 0 to 1, for which both queues have been empty, at least. While one
 * is not, a packet waits in it; so that time is no longer than what all packets have waited
 * together, which the histograms have to the nanosecond, and what the heads have waited so far.
 * 0 if packets were dropped: nobody knows how long those had waited.
 */
double interval_empty(const struct sample *interval);

#endif /* INTERVAL_H */
