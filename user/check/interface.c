// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/interface.h"

#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "check/report.h"
#include "cli/format.h"
#include "kernel/running.h"
#include "tcp_prague.h"

/* Packets wait where the bottleneck is. What comes behind this host nobody can see from here. */
static void show_bottleneck(const struct link *link, uint64_t rate)
{
	const uint64_t own = link_speed(link);
	char wanted[FORMAT_MAX], device[FORMAT_MAX];

	format_rate(rate, wanted);
	format_rate(own, device);
	if (rate && own && rate > own)
		report_line(REPORT_HINT,
			    "rate %s: the device itself has %s, so nothing waits for the rate: "
			    "give less",
			    wanted, device);
	else if (rate)
		report_line(REPORT_OK,
			    "packets wait here unless what comes behind has less than %s", wanted);
	else if (own)
		report_line(REPORT_HINT,
			    "without --rate packets wait here only at the %s of the device: if "
			    "something behind it is slower, give --rate",
			    device);
	else if (link->kind[0])
		report_line(REPORT_HINT,
			    "a %s device has no speed of its own: without --rate hardly anything "
			    "waits here",
			    link->kind);
	else
		report_line(REPORT_HINT,
			    "the device does not say its speed: if something behind it is "
			    "slower, give --rate");
}

static void show_queues(const struct link *link, uint64_t rate, bool is_mq)
{
	if (link->tx_queues < 2)
		return;
	if (is_mq && rate)
		report_line(REPORT_OK, "its %u transmit queues share one rate", link->tx_queues);
	else if (is_mq)
		report_line(REPORT_OK, "each of its %u transmit queues has an instance of its own",
			    link->tx_queues);
	else if (rate)
		report_line(REPORT_OK, "its %u transmit queues share one instance, and so the rate",
			    link->tx_queues);
	else
		report_line(REPORT_HINT,
			    "its %u transmit queues share one instance: --mq gives each its own",
			    link->tx_queues);
}

/* A host that sends Prague by itself never sees its own Classic flows wait for a long target. */
static void show_senders(const struct link *link, uint64_t target_ns)
{
	if (target_ns > PRAGUE_LOCAL_TARGET_NS && kernel_has_congestion(PRAGUE_NAME) > 0)
		report_line(REPORT_HINT,
			    "this host has TCP Prague: if it sends by %s itself, give --target "
			    "2ms, or L4S gets more than its share",
			    link->name);
}

void interface_report(const struct link *link, const struct aqm *aqm,
		      const struct dualpi2_params *wanted, bool is_mq)
{
	if (!link->running)
		report_line(REPORT_HINT, "%s is down or not connected: `ip link set %s up`",
			    link->name, link->name);
	show_queues(link, wanted->rate, is_mq);
	show_bottleneck(link, wanted->rate);
	show_senders(link, params_target(aqm, wanted));
}
