/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures on stdout for Prometheus, in one of its two text formats. They differ in how they
 * name a counter's family: OpenMetrics 1.0 without `_total`, as its samples are not, and the older
 * format as its samples. So what reads the older one (the textfile collector of node_exporter)
 * takes OpenMetrics as well, but knows neither types nor meanings of the counters then.
 */
#ifndef OPENMETRICS_H
#define OPENMETRICS_H

#include "sample/sample.h"

enum exposition {
	EXPOSITION_OPENMETRICS,
	EXPOSITION_PROMETHEUS, /* text format 0.0.4 */
};

void openmetrics_print(const struct samples *list, enum exposition exposition);

#endif /* OPENMETRICS_H */
