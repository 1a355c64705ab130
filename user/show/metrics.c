// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics.h"

#include <linux/pkt_sched.h>
#include <stdio.h>

#include "cli/clean.h"
#include "cli/format.h"
#include "subscribers.h"

/* The longest name in a label is a subscriber's. */
#define LABEL_MAX SUBSCRIBER_NAME_SIZE

/* A name may have any character but blanks. */
static void print_escaped(const char *name)
{
	char clean[CLEAN_MAX(LABEL_MAX)];

	for (const char *c = clean_text(name, clean, sizeof(clean)); *c; c++) {
		if (*c == '"' || *c == '\\')
			putchar('\\');
		putchar(*c);
	}
}

static const char *suffix_of(const struct metric *metric)
{
	return metric->type == COUNTER ? "_total" : "";
}

void metric_head(const struct metric *metric, enum exposition exposition)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const char *suffix = exposition == EXPOSITION_PROMETHEUS ? suffix_of(metric) : "";

	printf("# HELP dualpi2_%s%s %s\n", metric->name, suffix, metric->help);
	printf("# TYPE dualpi2_%s%s %s\n", metric->name, suffix, types[metric->type]);
	if (metric->unit && exposition == EXPOSITION_OPENMETRICS)
		printf("# UNIT dualpi2_%s %s\n", metric->name, metric->unit);
}

void metrics_end(enum exposition exposition)
{
	if (exposition == EXPOSITION_OPENMETRICS)
		printf("# EOF\n");
}

static void begin(const struct metric *metric, const char *suffix, const char *ifname,
		  enum direction direction)
{
	printf("dualpi2_%s%s{device=\"", metric->name, suffix ?: suffix_of(metric));
	print_escaped(ifname);
	printf("\",direction=\"%s\"", direction_name(direction));
}

void metric_begin_of(const struct metric *metric, const char *ifname, enum direction direction)
{
	begin(metric, NULL, ifname, direction);
}

void metric_begin(const struct metric *metric, const char *suffix, const struct sample *sample)
{
	char class[FORMAT_MAX];

	begin(metric, suffix, sample->ifname, sample->direction);
	printf(",parent=\"%s\"",
	       sample->key.parent == TC_H_ROOT ? "root" : format_class(sample->key.parent, class));
}

void metric_label(const char *label, const char *value)
{
	printf(",%s=\"", label);
	print_escaped(value);
	printf("\"");
}

void metric_value(void)
{
	printf("} ");
}
