/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How metrics are written in both text formats of Prometheus (show.h). */
#ifndef METRICS_H
#define METRICS_H

#include "sample/sample.h"
#include "show/show.h"

enum metric_type { COUNTER, GAUGE, HISTOGRAM };

struct metric {
	const char *name; /* without "dualpi2_", and of a counter "_total" */
	enum metric_type type;
	const char *unit; /* NULL: none */
	const char *help;
};

/* Values of the label `queue`. */
#define METRIC_L "l4s"
#define METRIC_C "classic"

/* What comes before the first sample of a metric, and behind the last of all. */
void metric_head(const struct metric *metric, enum exposition exposition);
void metrics_end(enum exposition exposition);

/* A sample, up to its value: `metric_begin()`, labels of its own, `metric_value()`. `suffix`: of a
 * histogram; else NULL.
 */
void metric_begin(const struct metric *metric, const char *suffix, const struct sample *sample);
void metric_begin_of(const struct metric *metric, const char *ifname, enum direction direction);
void metric_label(const char *label, const char *value);
void metric_value(void);

#endif /* METRICS_H */
