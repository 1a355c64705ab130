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
#include "kernel/link.h"
#include "pinned/pins.h"
#include "sample/follow.h"
#include "sample/sample.h"
#include "sample/sampler.h"
#include "show/bars.h"
#include "show/events.h"
#include "show/histogram.h"
#include "show/json.h"
#include "show/openmetrics.h"
#include "show/output.h"
#include "show/table.h"
#include "show/tc_text.h"
#include "watch/watch.h"

enum output {
	OUTPUT_JSON,
	OUTPUT_JSONL,
	OUTPUT_TC,
	OUTPUT_OPENMETRICS,
	OUTPUT_PROMETHEUS,
	OUTPUT_HISTOGRAM,
	OUTPUT_WATCH,
	OUTPUT_RECORD,
	OUTPUT_FILE,
	OUTPUT_EVENTS,
	OUTPUT_INTERVAL,
	OUTPUT_COUNT,
	N_OUTPUTS,
};

#define SLOT_FORMAT 1

#define INTERVAL_MIN_NS (10 * DUALPI2_NSEC_PER_MSEC)
#define INTERVAL_MAX_NS (86400 * DUALPI2_NSEC_PER_SEC)
#define COUNT_MAX UINT32_MAX

static uint64_t interval_ns = DUALPI2_NSEC_PER_SEC;
static uint64_t count; /* of repetitions; 0: without end */

static const struct option_spec output_specs[N_OUTPUTS] = {
	[OUTPUT_JSON] = { .name = "json",
			  .slot = SLOT_FORMAT,
			  .help = "an array of one object per qdisc, with the keys of `tc -j -s "
				  "qdisc show`; times in us" },
	[OUTPUT_JSONL] = { .name = "jsonl",
			   .slot = SLOT_FORMAT,
			   .help = "one such object per line and interval, with its time and what "
				   "happened in it, until interrupted" },
	[OUTPUT_TC] = { .name = "tc",
			.slot = SLOT_FORMAT,
			.help = "what `tc -s qdisc show` prints for dualpi2" },
	[OUTPUT_OPENMETRICS] = { .name = "openmetrics",
				 .slot = SLOT_FORMAT,
				 .help = "metrics in the text format of OpenMetrics 1.0" },
	[OUTPUT_PROMETHEUS] = { .name = "prometheus",
				.slot = SLOT_FORMAT,
				.help = "the same in the text format of Prometheus, for the textfile "
					"collector of node_exporter" },
	[OUTPUT_HISTOGRAM] = { .name = "histogram",
			       .help = "a plot of how long packets waited; its buckets with --json or "
				       "--jsonl" },
	[OUTPUT_WATCH] = { .name = "watch",
			   .slot = SLOT_FORMAT,
			   .help = "a live view on the whole terminal; q quits" },
	[OUTPUT_RECORD] = { .name = "record",
			    .kind = KIND_FILE,
			    .help = "write the lines of --jsonl to a file, for dualpi2-plot",
			    .words = "eth0.jsonl" },
	[OUTPUT_FILE] = { .name = "output",
			  .kind = KIND_FILE,
			  .help = "write to a file, replacing it by a rename",
			  .words = "dualpi2.prom" },
	[OUTPUT_EVENTS] = { .name = "events",
			    .help = "print a line when overload begins or ends, until interrupted; "
				    "with --json one object per line. Without IFACE: in all network "
				    "namespaces" },
	[OUTPUT_INTERVAL] = { .name = "interval",
			      .kind = KIND_TIME,
			      .min = INTERVAL_MIN_NS,
			      .max = INTERVAL_MAX_NS,
			      .help = "show repeatedly what happened in the last TIME instead of "
				      "since it was attached, until interrupted. [--jsonl, --record, "
				      "--watch: 1s]" },
	[OUTPUT_COUNT] = { .name = "count",
			   .kind = KIND_NUMBER,
			   .min = 1,
			   .max = COUNT_MAX,
			   .help = "end after N intervals" },
};

static const char *outputs[N_OUTPUTS];

/* What does not go together with an output, besides what excludes each other anyway. */
#define BIT(output) (1U << (output))
#define REPEATED (BIT(OUTPUT_INTERVAL) | BIT(OUTPUT_COUNT))

#define FORMATS                                                                      \
	(BIT(OUTPUT_JSON) | BIT(OUTPUT_JSONL) | BIT(OUTPUT_TC) | BIT(OUTPUT_WATCH) | \
	 BIT(OUTPUT_OPENMETRICS) | BIT(OUTPUT_PROMETHEUS))

static const unsigned int excluded[N_OUTPUTS] = {
	[OUTPUT_JSON] = REPEATED,
	[OUTPUT_TC] = REPEATED | BIT(OUTPUT_HISTOGRAM),
	[OUTPUT_OPENMETRICS] = REPEATED | BIT(OUTPUT_HISTOGRAM),
	[OUTPUT_PROMETHEUS] = REPEATED | BIT(OUTPUT_HISTOGRAM),
	[OUTPUT_EVENTS] = REPEATED | BIT(OUTPUT_HISTOGRAM) | BIT(OUTPUT_RECORD) |
			  (FORMATS & ~BIT(OUTPUT_JSON)),
	[OUTPUT_RECORD] = FORMATS,
	[OUTPUT_FILE] = REPEATED | BIT(OUTPUT_JSONL) | BIT(OUTPUT_WATCH) | BIT(OUTPUT_RECORD) |
			BIT(OUTPUT_EVENTS),
	[OUTPUT_WATCH] = BIT(OUTPUT_COUNT) | BIT(OUTPUT_HISTOGRAM),
};

static struct option_group groups[] = {
	{ "Output", output_specs, N_OUTPUTS, outputs, false, false },
};

static const struct command command = {
	.name = "dualpi2-stats",
	.synopsis = "[IFACE] [OPTIONS]",
	.about = "Show the bpf_dualpi2 qdiscs of this network namespace, or of one interface.\n"
		 "Counters and delays cover the time since the qdisc was attached.\n",
	.epilogue =
		"Exit status: 0 shown, 1 failed or nothing to show, 2 wrong usage. With --json,\n"
		"--openmetrics and --prometheus nothing to show gives an empty answer and 0.\n"
		"\n"
		"RFC 9332, 2.5.2.2, asks for three packet counts for each queue: arrived is\n"
		"packets-in; presented to the AQM is packets-out + drop-aqm + drop-overload;\n"
		"forwarded is packets-out. The AQM's drops are drop-aqm for Not-ECT packets and\n"
		"drop-overload for ECN-capable ones.\n"
		"\n"
		"Each event is reported once: of two --events at a time, each gets only some.\n"
		"--jsonl and --interval continue when a qdisc comes or goes.\n"
		"\n"
		"EXAMPLES\n"
		"  dualpi2-stats\n"
		"  dualpi2-stats eth0\n"
		"  dualpi2-stats eth0 --tc\n"
		"  dualpi2-stats eth0 --watch\n"
		"  dualpi2-stats eth0 --histogram --interval 10s\n"
		"  dualpi2-stats --jsonl --interval 1s --count 60 >minute.jsonl\n"
		"  dualpi2-stats eth0 --record eth0.jsonl; dualpi2-plot eth0.jsonl -o eth0.svg\n"
		"  dualpi2-stats --events\n"
		"  dualpi2-stats --prometheus --output dualpi2.prom\n"
		"  dualpi2-stats --json | jq '.[].\"l-queue\".delay.p99'\n",
	.groups = groups,
	.n_groups = sizeof(groups) / sizeof(groups[0]),
};

static enum json_delays delays_shown(void)
{
	return outputs[OUTPUT_HISTOGRAM] ? JSON_BINS : JSON_QUANTILES;
}

static bool flush(FILE *file)
{
	const enum output into = outputs[OUTPUT_RECORD] ? OUTPUT_RECORD : OUTPUT_FILE;

	if (!fflush(file) && !ferror(file))
		return true;
	if (!outputs[into])
		return fail(errno, "cannot write to the standard output");
	return fail(errno, "--%s %s: cannot be written: is the disk full?", output_specs[into].name,
		    outputs[into]);
}

static void print_text(const struct samples *list)
{
	if (outputs[OUTPUT_TC])
		tc_print(list);
	else if (outputs[OUTPUT_HISTOGRAM])
		histogram_print(list);
	else
		table_print(list);
}

static bool show_once(struct sampler *sampler)
{
	struct samples list;
	bool shown = true;

	if (!sampler_take(sampler, &list))
		return false;
	if (outputs[OUTPUT_JSON])
		json_print(&list, delays_shown());
	else if (outputs[OUTPUT_OPENMETRICS])
		openmetrics_print(&list, EXPOSITION_OPENMETRICS);
	else if (outputs[OUTPUT_PROMETHEUS])
		openmetrics_print(&list, EXPOSITION_PROMETHEUS);
	else if (list.count)
		print_text(&list);
	else
		shown = sampler_has_nothing(sampler);
	free(list.items);
	return flush(stdout) && shown;
}

static bool show_lines(const struct samples *samples, const struct samples *intervals, void *file)
{
	json_print_lines(file, samples, intervals, delays_shown());
	return flush(file);
}

static bool show_text(const struct samples *samples, const struct samples *intervals, void *data)
{
	(void)samples, (void)data;
	print_text(intervals);
	printf("\n");
	return flush(stdout);
}

/* `file` has been opened before: later we may be in another mount namespace (pins.h), and with
 * fewer rights.
 */
static bool show(const char *ifname, FILE *file)
{
	struct sampler sampler;
	bool shown;

	if (!sampler_open(&sampler, ifname))
		return false;
	if (outputs[OUTPUT_JSONL] || outputs[OUTPUT_RECORD]) {
		json_begin_lines(file);
		shown = follow(&sampler, interval_ns, count, show_lines, file);
	} else if (outputs[OUTPUT_WATCH]) {
		shown = watch(&sampler, interval_ns);
	} else if (outputs[OUTPUT_INTERVAL]) {
		shown = follow(&sampler, interval_ns, count, show_text, NULL);
	} else {
		shown = show_once(&sampler);
	}
	sampler_close(&sampler);
	return shown;
}

static bool tell_events(const char *ifname)
{
	unsigned int ifindex = 0;
	struct sampler sampler;
	bool followed;

	if (!sampler_open(&sampler, ifname))
		return false;
	if (!registrations_found(&sampler.regs) && sampler.hidden)
		return fail(0, "--events: they cannot be seen: %s: run it %s", sampler.hidden,
			    privilege_as_root());
	if (!registrations_found(&sampler.regs))
		return sampler_has_nothing(&sampler);
	if (ifname && !link_index(ifname, &ifindex))
		followed = false;
	else if (pins_are_hidden())
		followed = fail(0, "--events: reading takes them from others: run it %s",
				privilege_as_root());
	else
		followed = events_follow(&sampler.regs, ifindex, outputs[OUTPUT_JSON]);
	sampler_close(&sampler);
	return followed;
}

/* Rules that are about more than one argument. */
static bool arguments_agree(void)
{
	for (int one = 0; one < N_OUTPUTS; one++) {
		for (int other = 0; outputs[one] && other < N_OUTPUTS; other++) {
			if (outputs[other] && excluded[one] & BIT(other))
				return fail(0, "--%s: excludes --%s: give one of them",
					    output_specs[one].name, output_specs[other].name);
		}
	}
	if (outputs[OUTPUT_COUNT] && !outputs[OUTPUT_INTERVAL] && !outputs[OUTPUT_JSONL] &&
	    !outputs[OUTPUT_RECORD])
		return fail(0, "--count: nothing is repeated: give it --interval, --jsonl or "
			       "--record");
	return true;
}

/* Where the output goes; NULL, with a report, if it cannot be opened. */
static FILE *open_output(struct output_file *output)
{
	FILE *file;

	if (outputs[OUTPUT_FILE] && !output_begin(output, outputs[OUTPUT_FILE]))
		return NULL;
	if (!outputs[OUTPUT_RECORD])
		return stdout;
	file = fopen(outputs[OUTPUT_RECORD], "we");
	if (!file)
		fail(errno, "--record %s: cannot be made: %s", outputs[OUTPUT_RECORD],
		     strerror(errno));
	return file;
}

static bool run(const char *ifname)
{
	struct output_file output;
	FILE *file = open_output(&output);
	bool shown;

	if (!file)
		return false;
	privilege_keep(PRIVILEGE_FILES | PRIVILEGE_MOUNT);
	shown = outputs[OUTPUT_EVENTS] ? tell_events(ifname) : show(ifname, file);
	fclose(file); /* all is flushed; stdout has served, too */
	if (outputs[OUTPUT_FILE])
		shown = output_end(&output, shown);
	return shown;
}

static void read_numbers(void)
{
	if (outputs[OUTPUT_INTERVAL])
		value_read(&output_specs[OUTPUT_INTERVAL], outputs[OUTPUT_INTERVAL], &interval_ns);
	if (outputs[OUTPUT_COUNT])
		value_read(&output_specs[OUTPUT_COUNT], outputs[OUTPUT_COUNT], &count);
}

int main(int argc, char **argv)
{
	const char *ifname;
	enum status status;

	message_init(command.name);
	if (!command_read(&command, argc, argv, &ifname, &status))
		return status;
	if (!arguments_agree())
		return STATUS_USAGE;
	read_numbers();
	bars_init();
	return run(ifname) ? STATUS_OK : STATUS_FAILURE;
}
