// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dualpi2-stats: show what the live bpf_dualpi2 qdiscs do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "cli/value.h"
#include "interface/left_over.h"
#include "pinned/pins.h"
#include "sample/sample.h"
#include "sample/sampler.h"
#include "show/flows.h"
#include "show/show.h"
#include "show/subscribers.h"
#include "subscribers.h"
#include "watch/watch.h"

enum output {
	OUTPUT_JSON,
	OUTPUT_JSONL,
	OUTPUT_TC,
	OUTPUT_OPENMETRICS,
	OUTPUT_PROMETHEUS,
	OUTPUT_CONFIG,
	OUTPUT_HISTOGRAM,
	OUTPUT_WATCH,
	OUTPUT_RECORD,
	OUTPUT_FILE,
	OUTPUT_QUEUES,
	OUTPUT_FLOWS,
	OUTPUT_SUBSCRIBERS,
	OUTPUT_SUBSCRIBER,
	OUTPUT_TOP,
	OUTPUT_EVENTS,
	OUTPUT_INTERVAL,
	OUTPUT_COUNT,
};

#define SLOT_FORMAT 1

#define INTERVAL_MIN_NS (10 * DUALPI2_NSEC_PER_MSEC)
#define INTERVAL_MAX_NS (86400 * DUALPI2_NSEC_PER_SEC)
#define COUNT_MAX UINT32_MAX

static uint64_t interval_ns = DUALPI2_NSEC_PER_SEC;
static uint64_t count; /* of repetitions; 0: without end */

/* What an output does not go with, besides the others of its slot. */
#define BIT(output) (1U << (output))
#define REPEATED (BIT(OUTPUT_INTERVAL) | BIT(OUTPUT_COUNT))
#define ONE_TEXT (REPEATED | BIT(OUTPUT_HISTOGRAM))

#define FORMATS                                                                      \
	(BIT(OUTPUT_JSON) | BIT(OUTPUT_JSONL) | BIT(OUTPUT_TC) | BIT(OUTPUT_WATCH) | \
	 BIT(OUTPUT_OPENMETRICS) | BIT(OUTPUT_PROMETHEUS))

/* With a list: of flows, of subscribers. */
#define NO_LIST (ONE_TEXT | BIT(OUTPUT_RECORD) | BIT(OUTPUT_EVENTS) | (FORMATS & ~BIT(OUTPUT_JSON)))
#define NO_SUBSCRIBER (NO_LIST | BIT(OUTPUT_QUEUES) | BIT(OUTPUT_FLOWS))
#define NO_SUBSCRIBERS                                                                             \
	((NO_SUBSCRIBER & ~(BIT(OUTPUT_OPENMETRICS) | BIT(OUTPUT_PROMETHEUS) | BIT(OUTPUT_WATCH) | \
			    BIT(OUTPUT_INTERVAL))) |                                               \
	 BIT(OUTPUT_CONFIG))

#define OUTPUT "Output"

static struct command command = {
	.name = "dualpi2-stats",
	.synopsis = "[IFACE] [OPTIONS]",
	.words = { { "interface", .is_word = true, .kind = KIND_FILE, .words = "eth0" } },
	.about = "Show the bpf_dualpi2 qdiscs of this network namespace, or of one interface.\n"
		 "Counters and delays cover the time since the qdisc was attached; the table\n"
		 "shows the last second, too, for which it waits.\n",
	.epilogue =
		"Exit status: 0 shown, 1 failed or nothing to show, 2 wrong usage. With --json,\n"
		"--openmetrics and --prometheus nothing to show gives an empty answer and 0.\n"
		"\n"
		"RFC 9332, 2.5.2.2, asks for three packet counts for each queue: arrived is\n"
		"packets-in; presented to the AQM is packets-out + drop-aqm + drop-overload;\n"
		"forwarded is packets-out. The AQM's drops are drop-aqm for Not-ECT packets and\n"
		"drop-overload for ECN-capable ones.\n"
		"\n"
		"--jsonl and --interval continue when a qdisc comes or goes.\n"
		"\n"
		"EXAMPLES\n"
		"  dualpi2-stats\n"
		"  dualpi2-stats eth0\n"
		"  dualpi2-stats eth0 --watch\n"
		"  dualpi2-stats eth0 --tc\n"
		"  dualpi2-stats eth0 --histogram --interval 10s\n"
		"  dualpi2-stats --jsonl --interval 1s --count 60 >minute.jsonl\n"
		"  dualpi2-stats eth0 --record eth0.jsonl; dualpi2-plot eth0.jsonl -o eth0.svg\n"
		"  dualpi2-stats eth0 --flows\n"
		"  dualpi2-stats eth0 --subscribers --watch\n"
		"  dualpi2-stats --events\n"
		"  dualpi2-stats --prometheus --config /etc/dualpi2 --output dualpi2.prom\n"
		"  dualpi2-stats --json | jq '.[].\"l-queue\".delay.p99'\n",
	.usual = { "watch", "histogram", "tc", "json", "jsonl", "record", "openmetrics",
		   "flows", "subscribers", "events", "interval", "count" },
	.headings = { OUTPUT },
	.options = {
		[OUTPUT_JSON] = { "json", OUTPUT,
				  "an array of one object per qdisc, with the keys of `tc -j -s "
				  "qdisc show`; times in us",
				  .slot = SLOT_FORMAT, .excludes = REPEATED },
		[OUTPUT_JSONL] = { "jsonl", OUTPUT,
				   "one such object per line and interval, with its time and what "
				   "happened in it, until interrupted",
				   .slot = SLOT_FORMAT },
		[OUTPUT_TC] = { "tc", OUTPUT, "what `tc -s qdisc show` prints for dualpi2",
				.slot = SLOT_FORMAT, .excludes = ONE_TEXT },
		[OUTPUT_OPENMETRICS] = { "openmetrics", OUTPUT,
					 "metrics in the text format of OpenMetrics 1.0",
					 .slot = SLOT_FORMAT, .excludes = ONE_TEXT },
		[OUTPUT_PROMETHEUS] = { "prometheus", OUTPUT,
					"the same in the text format of Prometheus, for the "
					"textfile collector of node_exporter",
					.slot = SLOT_FORMAT, .excludes = ONE_TEXT },
		[OUTPUT_CONFIG] = { "config", OUTPUT,
				    "with metrics: tell of the interfaces that are configured in this "
				    "directory whether it is attached",
				    .kind = KIND_FILE, .words = "/etc/dualpi2" },
		[OUTPUT_HISTOGRAM] = { "histogram", OUTPUT,
				       "a plot of how long packets waited; its buckets with --json "
				       "or --jsonl",
				       .kind = KIND_NONE },
		[OUTPUT_WATCH] = { "watch", OUTPUT,
				   "a live view on the whole terminal; ? shows the keys, q quits. "
				   "With --subscribers, of these",
				   .slot = SLOT_FORMAT,
				   .excludes = BIT(OUTPUT_COUNT) | BIT(OUTPUT_HISTOGRAM) },
		[OUTPUT_RECORD] = { "record", OUTPUT,
				    "write the lines of --jsonl to a file, for dualpi2-plot",
				    .kind = KIND_FILE, .words = "eth0.jsonl", .excludes = FORMATS },
		[OUTPUT_FILE] = { "output", OUTPUT, "write to a file, replacing it by a rename",
				  .kind = KIND_FILE, .words = "dualpi2.prom",
				  .excludes = REPEATED | BIT(OUTPUT_JSONL) | BIT(OUTPUT_WATCH) |
					      BIT(OUTPUT_RECORD) | BIT(OUTPUT_EVENTS) },
		[OUTPUT_QUEUES] = { "queues", OUTPUT,
				    "show each transmit queue, too, where all share one rate",
				    .excludes = BIT(OUTPUT_OPENMETRICS) | BIT(OUTPUT_PROMETHEUS) |
						BIT(OUTPUT_FLOWS) | BIT(OUTPUT_EVENTS) },
		[OUTPUT_FLOWS] = { "flows", OUTPUT,
				   "list the flows that --guard keeps out of the L4S queue: since "
				   "when, for how long, and why; for root",
				   .excludes = NO_LIST },
		[OUTPUT_SUBSCRIBERS] = { "subscribers", OUTPUT,
					 "list the subscribers in force, with their plans, what they "
					 "use and how long they wait; for root",
					 .excludes = NO_SUBSCRIBERS | BIT(OUTPUT_SUBSCRIBER) },
		[OUTPUT_SUBSCRIBER] = { "subscriber", OUTPUT,
					"show the subscriber or parent of this name; for root",
					.kind = KIND_FILE, .words = "c1001", .argument = "NAME",
					.excludes = NO_SUBSCRIBER },
		[OUTPUT_TOP] = { "top", OUTPUT,
				 "with --subscribers: only the N that use most, first",
				 .kind = KIND_NUMBER, .min = 1, .max = SUBSCRIBERS_ROOM_MAX,
				 .excludes = BIT(OUTPUT_WATCH) },
		[OUTPUT_EVENTS] = { "events", OUTPUT,
				    "print a line when overload begins or ends, and for root when "
				    "--guard takes a flow out of the L4S queue, until interrupted; "
				    "with --json one object per line. Without IFACE: in all "
				    "network namespaces",
				    .excludes = ONE_TEXT | BIT(OUTPUT_RECORD) |
						(FORMATS & ~BIT(OUTPUT_JSON)) },
		[OUTPUT_INTERVAL] = { "interval", OUTPUT,
				      "show repeatedly what happened in the last TIME instead of "
				      "since it was attached, until interrupted. [--jsonl, "
				      "--record, --watch: 1s]",
				      .kind = KIND_TIME, .min = INTERVAL_MIN_NS,
				      .max = INTERVAL_MAX_NS },
		[OUTPUT_COUNT] = { "count", OUTPUT, "end after N intervals",
				   .kind = KIND_NUMBER, .min = 1, .max = COUNT_MAX },
	},
};

/* What was given for it; NULL: nothing. */
static const char *given(enum output output)
{
	return command.given[output].text;
}

static enum json_delays delays_shown(void)
{
	return given(OUTPUT_HISTOGRAM) ? JSON_BINS : JSON_QUANTILES;
}

static bool flush(FILE *file)
{
	const enum output into = given(OUTPUT_RECORD) ? OUTPUT_RECORD : OUTPUT_FILE;

	if (!given(into))
		return say_flush();
	return (!fflush(file) && !ferror(file)) ||
	       fail(errno, "--%s %s: cannot be written: is the disk full?",
		    command.options[into].name, given(into));
}

/* Is no other format asked for? */
static bool is_table(void)
{
	const unsigned int others = FORMATS | BIT(OUTPUT_HISTOGRAM) | BIT(OUTPUT_FLOWS) |
				    BIT(OUTPUT_SUBSCRIBERS) | BIT(OUTPUT_SUBSCRIBER);

	for (enum output i = 0; others >> i; i++) {
		if (others & BIT(i) && given(i))
			return false;
	}
	return true;
}

static void print_line(const char *text)
{
	say_line("%s", text);
}

static void print_text(const struct samples *list, enum shown shown)
{
	if (given(OUTPUT_TC))
		tc_print(list);
	else if (given(OUTPUT_HISTOGRAM))
		histogram_print(list, shown);
	else
		table_print(list, shown);
}

static void print_metrics(const struct samples *list, const char *ifname,
			  const struct configuration *configuration)
{
	const enum exposition exposition =
		given(OUTPUT_OPENMETRICS) ? EXPOSITION_OPENMETRICS : EXPOSITION_PROMETHEUS;
	struct configured configured = {};

	if (given(OUTPUT_CONFIG))
		configured_look(configuration, ifname, &configured);
	openmetrics_print(list, given(OUTPUT_CONFIG) ? &configured : NULL, exposition);
	free(configured.items);
}

/* Who reads it would rather have an empty answer than a failure. */
static bool is_for_people(void)
{
	return !given(OUTPUT_JSON) && !given(OUTPUT_OPENMETRICS) && !given(OUTPUT_PROMETHEUS);
}

static bool show_subscribers(const struct sampler *sampler, const struct samples *list)
{
	const struct subscribers_shown shown = {
		.form = given(OUTPUT_JSON)	    ? SUBSCRIBERS_JSON
			: given(OUTPUT_OPENMETRICS) ? SUBSCRIBERS_OPENMETRICS
			: given(OUTPUT_PROMETHEUS)  ? SUBSCRIBERS_PROMETHEUS
						    : SUBSCRIBERS_TABLE,
		.name = given(OUTPUT_SUBSCRIBER),
		.top = given(OUTPUT_TOP) ? command.given[OUTPUT_TOP].value : 0,
	};

	return subscribers_print(&sampler->regs, list, &shown);
}

static bool show_once(struct sampler *sampler, const struct configuration *configuration)
{
	struct samples list;
	bool shown = true;

	if (!sampler_take(sampler, &list))
		return false;
	if (given(OUTPUT_FLOWS) && (list.count || given(OUTPUT_JSON)))
		shown = flows_print(&sampler->regs, &list, given(OUTPUT_JSON));
	else if ((given(OUTPUT_SUBSCRIBERS) || given(OUTPUT_SUBSCRIBER)) &&
		 (list.count || !is_for_people()))
		shown = show_subscribers(sampler, &list);
	else if (given(OUTPUT_JSON))
		json_print(&list, delays_shown());
	else if (given(OUTPUT_OPENMETRICS) || given(OUTPUT_PROMETHEUS))
		print_metrics(&list, sampler->ifname, configuration);
	else if (list.count)
		print_text(&list, SHOWN_TOTAL);
	else
		shown = sampler_has_nothing(sampler);
	free(list.items);
	return flush(stdout) && shown;
}

/* The totals, and what the last interval brought. */
static bool show_both(const struct samples *samples, void *sampler)
{
	if (!samples->count)
		return sampler_has_nothing(sampler);
	table_print(samples, SHOWN_TOTAL);
	return flush(stdout);
}

static bool show_table(struct sampler *sampler)
{
	bool shown = follow(sampler, interval_ns, 1, show_both, sampler);

	if (!sampler->ifname)
		shown &= left_over_each(&sampler->regs, &sampler->ifbs, print_line);
	return flush(stdout) && shown;
}

static bool show_lines(const struct samples *samples, void *file)
{
	json_print_lines(file, samples, delays_shown());
	return flush(file);
}

static bool show_text(const struct samples *samples, void *data)
{
	(void)data;
	print_text(samples, SHOWN_RECENT);
	printf("\n");
	return flush(stdout);
}

/* `file` and `configuration` have been opened before: later we may be in another mount namespace
 * (pins.h), and with fewer rights.
 */
static bool show(const char *ifname, FILE *file, const struct configuration *configuration)
{
	struct sampler sampler;
	bool shown;

	if (!sampler_open(&sampler, ifname))
		return false;
	sampler.queues = given(OUTPUT_QUEUES);
	if (given(OUTPUT_JSONL) || given(OUTPUT_RECORD)) {
		json_begin_lines(file);
		shown = follow(&sampler, interval_ns, count, show_lines, file);
	} else if (given(OUTPUT_WATCH)) {
		shown = given(OUTPUT_SUBSCRIBERS) ? watch_subscribers(&sampler, interval_ns)
						  : watch(&sampler, interval_ns);
	} else if (given(OUTPUT_INTERVAL)) {
		shown = follow(&sampler, interval_ns, count, show_text, NULL);
	} else if (is_table()) {
		shown = show_table(&sampler);
	} else {
		shown = show_once(&sampler, configuration);
	}
	sampler_close(&sampler);
	return shown;
}

static bool tell_events(const char *ifname)
{
	struct sampler sampler;
	bool followed;

	if (!sampler_open(&sampler, ifname))
		return false;
	if (!registrations_found(&sampler.regs) && sampler.hidden)
		return fail(0, "--events: they cannot be seen: %s", sampler.hidden);
	if (!registrations_found(&sampler.regs))
		return sampler_has_nothing(&sampler);
	followed = events_follow(&sampler, given(OUTPUT_JSON));
	sampler_close(&sampler);
	return followed;
}

static bool run(const char *ifname)
{
	struct output_file output;
	FILE *file = stdout;
	struct configuration configuration = { .units = -1 };
	bool shown;

	if (given(OUTPUT_FILE) && !output_begin(&output, given(OUTPUT_FILE)))
		return false;
	if (given(OUTPUT_RECORD))
		file = record_open(given(OUTPUT_RECORD));
	if (!file)
		return fail(errno, "--record %s: cannot be made: %s", given(OUTPUT_RECORD),
			    strerror(errno));
	if (given(OUTPUT_CONFIG))
		configuration_open(given(OUTPUT_CONFIG), &configuration);
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT);
	shown = given(OUTPUT_EVENTS) ? tell_events(ifname) : show(ifname, file, &configuration);
	configuration_close(&configuration);
	if (file != stdout)
		fclose(file); /* all is flushed */
	return given(OUTPUT_FILE) ? output_end(&output, shown) : shown;
}

static void read_numbers(void)
{
	if (given(OUTPUT_INTERVAL))
		interval_ns = command.given[OUTPUT_INTERVAL].value;
	if (given(OUTPUT_COUNT))
		count = command.given[OUTPUT_COUNT].value;
}

static bool options_agree(void)
{
	if (given(OUTPUT_COUNT) && !given(OUTPUT_INTERVAL) && !given(OUTPUT_JSONL) &&
	    !given(OUTPUT_RECORD))
		return fail(0, "--count: nothing is repeated: give it --interval, --jsonl or "
			       "--record");
	if (given(OUTPUT_INTERVAL) && given(OUTPUT_SUBSCRIBERS) && !given(OUTPUT_WATCH))
		return fail(0, "--interval: with --subscribers only for --watch");
	if (given(OUTPUT_TOP) && !given(OUTPUT_SUBSCRIBERS))
		return fail(0, "--top: only with --subscribers");
	if (given(OUTPUT_CONFIG) && !given(OUTPUT_OPENMETRICS) && !given(OUTPUT_PROMETHEUS))
		return fail(0, "--config: only with --openmetrics or --prometheus");
	return true;
}

int main(int argc, char **argv)
{
	enum status status;

	message_init(command.name);
	if (!command_read(&command, argc, argv, &status))
		return status;
	if (!options_agree())
		return STATUS_USAGE;
	read_numbers();
	bars_init();
	return run(command_given(&command, "interface")) ? STATUS_OK : STATUS_FAILURE;
}
