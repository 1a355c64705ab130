// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "aqm/stat.h"
#include "cli/format.h"

#define LINE_MAX_WIDTH 79 /* leaves room for a comma */

/* So much traffic lately without a queue makes the hint worth a line. */
#define HINT_PACKETS 100

/* A figure of both queues, and in words what it is. */
static void print_row(const char *l, const char *c, const char *unit, const char *meaning)
{
	printf("%8s %9s  %s%s%s\n", l, c, unit, *unit ? " " : "", meaning);
}

/* The same of what is measured; `format` is a function of format.h. */
static void print_both(double l, double c, const char *(*format)(double, char *), const char *unit,
		       const char *meaning)
{
	char l_text[FORMAT_MAX], c_text[FORMAT_MAX];

	print_row(format(l, l_text), format(c, c_text), unit, meaning);
}

/* Marks and drops: events that may never happen, so rows of zeros are left out. They
 * are packets, as the table's head says.
 */
static void print_stat(const struct stat_row *row, const struct dualpi2_stats *stats)
{
	const int64_t l = stat_value(row, &stats->l), c = stat_value(row, &stats->c);
	const bool is_event =
		!strncmp(row->member, "mark_", 5) || !strncmp(row->member, "drop_", 5);
	const bool in_packets = !strcmp(row->unit, "packets");

	if ((is_event || !row->is_counter) && !in_packets)
		return;
	if (!is_event || l || c)
		print_both((double)l, (double)c, format_count, is_event ? "" : row->unit,
			   row->meaning);
}

static void print_share(const char *meaning, __u64 (*count)(const struct dualpi2_counters *),
			const struct dualpi2_stats *stats)
{
	const struct dualpi2_counters *l = &stats->l.counters, *c = &stats->c.counters;
	char l_text[FORMAT_MAX], c_text[FORMAT_MAX];

	print_row(format_share(count(l), l->packets_in, l_text),
		  format_share(count(c), c->packets_in, c_text), "", meaning);
}

static void print_delay(const struct dualpi2_delays *delays, enum delay asked, const char *meaning)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	print_row(delay_text(&delays->l, asked, l), delay_text(&delays->c, asked, c), "", meaning);
}

static void print_delays(const struct dualpi2_delays *delays)
{
	print_delay(delays, DELAY_MEAN, "delay in the queue: mean");
	print_delay(delays, DELAY_P50, "  half of the packets at most");
	print_delay(delays, DELAY_P99, "  99 % of the packets at most");
	print_delay(delays, DELAY_P999, "  99.9 % of the packets at most");
	print_delay(delays, DELAY_HIGHEST, "  highest");
}

/* bit/s */
static double forwarded(const struct figures *interval, const struct dualpi2_queue *queue)
{
	return interval_speed(interval, queue->counters.bytes_out);
}

static void print_forwarded(const struct figures *interval)
{
	const struct dualpi2_stats *stats = &interval->stats;

	print_both(forwarded(interval, &stats->l), forwarded(interval, &stats->c), format_speed, "",
		   "a second forwarded to the device");
}

static void print_use(const struct figures *interval)
{
	const struct dualpi2_stats *stats = &interval->stats;
	const double rate = figures_rate(interval);
	char l[FORMAT_MAX], c[FORMAT_MAX];

	if (rate)
		print_row(format_share(forwarded(interval, &stats->l), rate, l),
			  format_share(forwarded(interval, &stats->c), rate, c), "", "of the rate");
}

static void print_shares(const struct dualpi2_stats *stats)
{
	print_share("of the arrived: CE-marked", dualpi2_marks, stats);
	print_share("of the arrived: dropped", dualpi2_drops, stats);
}

/* What matters of what happened lately. */
static void print_recent(const struct figures *interval)
{
	char span[FORMAT_MAX];

	printf("\n%8s %9s  in the last %s\n", "L4S", "Classic",
	       format_delay(interval->span_ns, span));
	print_forwarded(interval);
	print_use(interval);
	print_shares(&interval->stats);
	print_delay(&interval->delays, DELAY_MEAN, "delay in the queue: mean");
	print_delay(&interval->delays, DELAY_P99, "  99 % of the packets at most");
}

static void print_queues(const struct figures *figures)
{
	const struct dualpi2_stats *stats = &figures->stats;

	printf("\n%8s %9s  %s; marks and drops in packets\n", "L4S", "Classic",
	       figures->span_ns ? "in this time" : "since it was attached");
	for (const struct stat_row *row = queue_rows; row->member; row++)
		print_stat(row, stats);
	if (figures->span_ns) {
		print_both(interval_speed(figures, stats->l.counters.bytes_in),
			   interval_speed(figures, stats->c.counters.bytes_in), format_speed, "",
			   "a second arrived for this queue");
		print_forwarded(figures);
	}
	print_shares(stats);
}

static void print_head(const struct sample *sample, const struct figures *figures)
{
	char params[OPTION_TEXT_MAX], span[FORMAT_MAX], name[NAME_SHOWN_MAX];

	printf("%s", sample_name(sample->ifname, name));
	if (sample->direction == INGRESS)
		printf(", ingress (%s)", sample_name(sample->device, name));
	printf(": %s%s%s", sample->aqm->kind,
	       !sample->is_sum		 ? ""
	       : sample_is_dualq(sample) ? " over all transmit queues (mq)"
					 : " in each transmit queue (mq)",
	       params_describe(params_none, true, sample->aqm, &figures->stats.params, params,
			       sizeof(params)));
	if (figures->span_ns)
		printf("; the last %s", format_delay(figures->span_ns, span));
	printf("\n");
}

/* Print an item of a list, on a new line if it does not fit this one. `column` is where
 * this line ends, 0 before the first item. Returns where it ends now.
 */
static size_t print_item(const char *item, size_t column)
{
	const size_t len = strlen(item);

	if (!column)
		return printf("  not default: %s", item);
	if (column + len + 2 <= LINE_MAX_WIDTH)
		return column + printf(", %s", item);
	printf(",\n");
	return printf("    %s", item);
}

/* The options that differ from the defaults, without those that the head shows. */
static void print_options(const struct sample *sample)
{
	const struct dualpi2_params *params = &sample->total.stats.params;
	const struct option_spec *spec;
	char text[OPTION_TEXT_MAX];
	size_t column = 0;

	for (size_t i = 0; (spec = params_row(sample->aqm, i)); i++) {
		if (!params_is_head(spec) && params_differ(spec, params))
			column = print_item(params_text(spec, params, text), column);
	}
	if (column)
		printf("\n");
}

static void print_probabilities(const struct dualpi2_levels *levels)
{
	printf("  p' %.2f %%: Classic marked or dropped %.2f %%, L4S marked %.1f %% of the time\n",
	       100 * sample_probability(levels->prob), 100 * sample_probability(levels->p_c),
	       100 * sample_probability(levels->p_cl));
}

/* What its AQM itself measures; a row without a key is a parameter. */
static void print_gauges(const struct aqm *aqm, const struct dualpi2_stats *stats)
{
	char text[FORMAT_MAX];

	for (const struct stat_row *row = aqm->gauges; row->member; row++) {
		if (!row->key)
			continue;
		printf("  %8s  ", stat_text(row, stats, text));
		if (!stat_is_time(row))
			printf("%s ", row->unit);
		printf("%s\n", row->meaning);
	}
}

static void print_overload(const struct dualpi2_stats *stats)
{
	const struct dualpi2_overload *overload = &stats->overload;
	char events[FORMAT_MAX], total[FORMAT_MAX], ago[FORMAT_MAX], latest[FORMAT_MAX];

	if (!overload->events)
		return;
	printf("  overload (p_C at p_Cmax): %s event%s, %s in all; the latest began %s ago\n"
	       "    and %s %s\n",
	       format_count(overload->events, events), overload->events == 1 ? "" : "s",
	       format_delay(overload->total_ns, total),
	       format_delay(stats->refreshed_ns - overload->start_ns, ago),
	       overload->active ? "has lasted for" : "lasted for",
	       format_delay(overload->duration_ns, latest));
}

/* Who is out now, and how near the next one is to it. */
static void print_guarded(const struct guarded *guarded)
{
	if (!guarded->is_known)
		printf("    (run it as root to see who is out now)\n");
	else if (guarded->convicts || guarded->worst)
		printf("    %u %s out now; the worst of the others has %llu %% of the blame that is\n"
		       "    too much\n",
		       guarded->convicts, guarded->convicts == 1 ? "is" : "are", guarded->worst);
	else
		printf("    none is out now\n");
}

static void print_guard(const struct sample *sample, const struct dualpi2_stats *stats)
{
	char convictions[FORMAT_MAX], redirected[FORMAT_MAX];

	if (!stats->convictions && !sample->guarded.worst && !sample->guarded.convicts)
		return;
	printf("  guard: flows taken out of the L4S queue %s time%s, %s of their packets\n"
	       "    came to the Classic queue\n",
	       format_count(stats->convictions, convictions), stats->convictions == 1 ? "" : "s",
	       format_count(stats->redirected, redirected));
	print_guarded(&sample->guarded);
}

static void print_sparse(const struct dualpi2_stats *stats)
{
	char packets[FORMAT_MAX];

	if (stats->sparse_packets)
		printf("  sparse: %s packets of Classic flows that build no queue were served as "
		       "L4S\n",
		       format_count(stats->sparse_packets, packets));
}

static void print_hosts(const struct aqm *aqm, const struct dualpi2_stats *stats)
{
	char shared[FORMAT_MAX];

	if (!stats->params.per_host)
		return;
	printf("  %s: packets wait for %u now\n",
	       aqm->variant == AQM_SUBSCRIBERS ? "subscribers" : "hosts", stats->hosts_waiting);
	if (stats->hosts_shared)
		printf("    %s packets shared the queues of another host, as all were in use\n",
		       format_count(stats->hosts_shared, shared));
}

static void print_gso(const struct dualpi2_stats *stats)
{
	char split[FORMAT_MAX], whole[FORMAT_MAX];

	if (stats->params.split_above)
		printf("  GSO packets of up to %llu bytes may queue whole\n",
		       stats->params.split_above);
	if (stats->gso_split || stats->gso_whole)
		printf("  GSO packets: %s split before they queued, %s queued whole\n",
		       format_count(stats->gso_split, split),
		       format_count(stats->gso_whole, whole));
}

/* On as many lines as it takes. */
static void print_lines(const char *text)
{
	while (*text) {
		int length;
		const char *next = format_line(text, LINE_MAX_WIDTH - 2, &length);

		printf("  %.*s\n", length, text);
		text = next;
	}
}

static void print_hint(const struct sample *sample)
{
	const struct dualpi2_stats *stats = &sample->recent.stats;
	char why[DIAGNOSIS_MAX], hint[2 * DIAGNOSIS_MAX];

	if (stats->l.counters.packets_out + stats->c.counters.packets_out < HINT_PACKETS ||
	    !diagnose_elsewhere(sample, why))
		return;
	snprintf(hint, sizeof(hint), "hint: %s. %s", why,
		 stats->params.rate ? "If something behind has less than --rate, give less."
				    : "Give --rate, a little less than what the bottleneck has.");
	print_lines(hint);
}

static void print_remarks(const struct sample *sample)
{
	const struct dualpi2_stats *stats = &sample->total.stats;
	char count[FORMAT_MAX], doubt_text[PARAMS_WHY_MAX], warning[STRAYS_TEXT_MAX + 16];
	const char *doubt = params_doubt(sample->aqm, &stats->params, doubt_text);
	char strays[STRAYS_TEXT_MAX], name[NAME_SHOWN_MAX];

	if (doubt) {
		snprintf(warning, sizeof(warning), "warning: %s.", doubt);
		print_lines(warning);
	}
	if (sample->strays.count) {
		snprintf(warning, sizeof(warning), "warning: %s.", strays_text(sample, strays));
		print_lines(warning);
	}
	if (stats->bypassed_tcx)
		printf("  warning: %s packets did not pass our tcx program, so none of them could\n"
		       "  be marked, only dropped.\n",
		       format_count(stats->bypassed_tcx, count));
	if (!sample->tcx_attached)
		printf("  warning: our tcx program is not attached, so nothing is marked:\n"
		       "  `dualpi2-load %s%s` attaches it.\n",
		       sample_name(sample->ifname, name), sample_option(sample));
	print_hint(sample);
}

static void print_words(const struct sample *sample)
{
	struct diagnosis diagnosis;

	diagnose(sample, &sample->recent, &diagnosis);
	print_lines(diagnosis.words);
}

static void print_instance(const struct sample *sample, const struct figures *figures)
{
	const struct dualpi2_stats *stats = &figures->stats;

	print_head(sample, figures);
	print_options(sample);
	if (sample_is_dualq(sample)) {
		print_probabilities(&stats->levels);
		print_gauges(sample->aqm, stats);
	}
	print_overload(stats);
	print_guard(sample, stats);
	print_sparse(stats);
	print_hosts(sample->aqm, stats);
	print_gso(stats);
	if (!figures->span_ns && sample->recent.span_ns)
		print_recent(&sample->recent);
	print_queues(figures);
	print_delays(&figures->delays);
	if (figures->span_ns)
		print_words(sample);
	else
		print_remarks(sample);
}

/* One queue of an mq, below their sum. */
static void print_mq_queue(const struct sample *sample, const struct figures *figures)
{
	const struct dualpi2_queue *l = &figures->stats.l, *c = &figures->stats.c;
	char text[5][FORMAT_MAX], class[FORMAT_MAX];

	printf("  %-9s %9s %9s %9s %9s %9s %9.2f\n", format_class(sample->key.parent, class),
	       format_count(l->counters.packets_in, text[0]),
	       format_count(c->counters.packets_in, text[1]),
	       format_count(dualpi2_drops(&l->counters) + dualpi2_drops(&c->counters), text[2]),
	       delay_text(&figures->delays.l, DELAY_P99, text[3]),
	       delay_text(&figures->delays.c, DELAY_P99, text[4]),
	       100 * sample_probability(figures->stats.levels.prob));
}

static bool is_queue_of(const struct sample *sample, const struct sample *sum)
{
	return sum->is_sum && !sample->is_sum && sample->key.ifindex == sum->key.ifindex;
}

static void print_mq_head(void)
{
	printf("\n  %-9s %9s %9s %9s %9s %9s %9s\n", "queue", "L4S", "Classic", "dropped", "L 99 %",
	       "C 99 %", "p' %");
}

void table_print(const struct samples *list, enum shown shown)
{
	const struct sample *before = NULL; /* the last one that was no queue below a sum */

	for (size_t i = 0; i < list->count; i++) {
		const struct sample *sample = &list->items[i];
		const struct figures *figures = shown_figures(sample, shown);

		if (!figures)
			continue;
		if (before && is_queue_of(sample, before)) {
			print_mq_queue(sample, figures);
			continue;
		}
		if (before)
			printf("\n");
		print_instance(sample, figures);
		if (i + 1 < list->count && is_queue_of(sample + 1, sample))
			print_mq_head();
		before = sample;
	}
}
