/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures as a JSON document on stdout: an array with an object per instance
 * (for an mq another one, of kind mq, with the sums), with
 * the keys and units that `tc -j -s qdisc show` has for dualpi2, and more.
 */
#ifndef JSON_H
#define JSON_H

#include "sample/sample.h"

/* What delays are told with: `bins` are those of the histogram that hold a packet. */
enum document_delays {
	DOCUMENT_QUANTILES,
	DOCUMENT_BINS,
};

void document_print(const struct figures_list *list, enum document_delays delays);

/* For other documents, into the object that is open: the members of an instance, ... */
void document_members(const struct figures *figures, enum document_delays delays);

/* ... and the object of a queue, to which more may be added before it is closed. */
void document_open_queue(const char *key, const struct dualpi2_queue *queue,
			 const struct dualpi2_histogram *histogram, enum document_delays delays);

#endif /* JSON_H */
