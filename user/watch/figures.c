// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/figures.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "aqm/stat.h"
#include "cli/format.h"
#include "show/show.h"
#include "watch/put.h"

/* Columns: what it is, of L, of C. */
#define L_COLUMN 20
#define CELL_TEXT_MAX (16 * FORMAT_MAX) /* of more than a cell, where there is room for it */

enum figure {
	HEADING,
	ARRIVING,
	LEAVING,
	DELAY_HALF,
	DELAY_MOST,
	DELAY_TOP,
	QUEUED,
	PROBABILITIES,
	MARKS,
	MARK_CAUSES,
	DROPS,
	DROP_CAUSES,
	N_FIGURES,
};

/* A line each. */
static const char *const names[N_FIGURES] = {
	[ARRIVING] = "arriving",
	[LEAVING] = "leaving",
	[DELAY_HALF] = "delay: half below",
	[DELAY_MOST] = "       99 % below",
	[DELAY_TOP] = "       highest",
	[QUEUED] = "queued now",
	[MARKS] = "marks",
	[MARK_CAUSES] = "      by cause",
	[DROPS] = "drops",
	[DROP_CAUSES] = "      by cause",
};

/* ---- cells --------------------------------------------------------------------------- */

static int cell_width(void)
{
	return (COLS - L_COLUMN) / 2;
}

static int c_column(void)
{
	return L_COLUMN + cell_width();
}

/* A blank follows. */
static void put_cell(enum figure figure, int column, const char *text)
{
	mvaddnstr(FIGURES_LINE + (int)figure, column, text, cell_width() - 1);
}

/* "36.3mbit, 90.8 % of rate" */
static const char *leaving(const struct figures *interval, const struct dualpi2_queue *queue,
			   char text[CELL_TEXT_MAX])
{
	const double rate = figures_rate(interval),
		     speed = interval_speed(interval, queue->counters.bytes_out);
	char number[FORMAT_MAX], share[FORMAT_MAX];

	if (!rate)
		return format_speed(speed, text);
	snprintf(text, CELL_TEXT_MAX, "%s, %s of rate", format_speed(speed, number),
		 format_share(speed, rate, share));
	return text;
}

static const char *backlog(const struct dualpi2_queue *queue, char text[CELL_TEXT_MAX])
{
	char packets[FORMAT_MAX], bytes[FORMAT_MAX];

	snprintf(text, CELL_TEXT_MAX, "%s packet%s, %s bytes",
		 format_count(queue->backlog_packets, packets),
		 queue->backlog_packets == 1 ? "" : "s", format_count(queue->backlog_bytes, bytes));
	return text;
}

/* "626/s, 12.5 %": how often, and of how many of the packets. */
static const char *often(const struct figures *interval, __u64 count, __u64 packets,
			 char text[CELL_TEXT_MAX])
{
	char rate[FORMAT_MAX], share[FORMAT_MAX];

	if (!count)
		return strcpy(text, "-");
	snprintf(text, CELL_TEXT_MAX, "%s, %s", frequency(interval, count, rate),
		 format_share((double)count, (double)packets, share));
	return text;
}

/* Behind what is there, as far as there is room: the new length. */
static size_t append(char text[CELL_TEXT_MAX], size_t used, const char *more)
{
	used += (size_t)snprintf(text + used, CELL_TEXT_MAX - used, "%s", more);
	return used < CELL_TEXT_MAX ? used : CELL_TEXT_MAX - 1;
}

/* "no memory 2.5/s, limit 8/s": how often what happened of the causes in packets whose members
 * begin so.
 */
static const char *causes(const struct figures *interval, const char *prefix,
			  const struct dualpi2_queue *queue, char text[CELL_TEXT_MAX])
{
	char rate[FORMAT_MAX];
	size_t used = 0;

	text[0] = '\0';
	for (const struct stat_row *row = queue_rows; row->member; row++) {
		const __u64 count = (__u64)stat_value(row, queue);

		if (!count || strncmp(row->member, prefix, strlen(prefix)) ||
		    strcmp(row->unit, "packets"))
			continue;
		used = append(text, used, used ? ", " : "");
		for (const char *c = row->member + strlen(prefix); *c && used < CELL_TEXT_MAX - 1;
		     c++)
			text[used++] = *c == '_' ? ' ' : *c;
		used = append(text, used, " ");
		used = append(text, used, frequency(interval, count, rate));
	}
	return text;
}

/* ---- lines --------------------------------------------------------------------------- */

/* In the column of a queue what `names` has, but for what is of both. */
static void put_queue(int column, const char *name, const struct figures *interval,
		      const struct dualpi2_queue *queue, const struct dualpi2_histogram *delays)
{
	const struct dualpi2_counters *counters = &queue->counters;
	char text[CELL_TEXT_MAX];

	attron(A_BOLD);
	put_cell(HEADING, column, name);
	attroff(A_BOLD);
	put_cell(ARRIVING, column,
		 format_speed(interval_speed(interval, counters->bytes_in), text));
	put_cell(LEAVING, column, leaving(interval, queue, text));
	put_cell(DELAY_HALF, column, delay_text(delays, DELAY_P50, text));
	put_cell(DELAY_MOST, column, delay_text(delays, DELAY_P99, text));
	put_cell(DELAY_TOP, column, delay_text(delays, DELAY_HIGHEST, text));
	put_cell(QUEUED, column, backlog(queue, text));
	put_cell(MARKS, column,
		 often(interval, dualpi2_marks(counters), counters->packets_in, text));
	put_cell(MARK_CAUSES, column, causes(interval, "mark_", queue, text));
	put_cell(DROPS, column,
		 often(interval, dualpi2_drops(counters), counters->packets_in, text));
	put_cell(DROP_CAUSES, column, causes(interval, "drop_", queue, text));
}

static void put_probability(int column, const char *name, __u32 kept)
{
	char text[CELL_TEXT_MAX];

	snprintf(text, sizeof(text), "%s %.2f %%", name, 100 * sample_probability(kept));
	put_cell(PROBABILITIES, column, text);
}

static void put_probabilities(const struct sample *now)
{
	const struct dualpi2_levels *levels = &now->total.stats.levels;

	if (now->is_sum) { /* each queue has its own */
		put_cell(PROBABILITIES, 0, "p'");
		put_cell(PROBABILITIES, L_COLUMN, "see the queues");
		return;
	}
	put_probability(0, "p'", levels->prob);
	put_probability(L_COLUMN, "p_CL", levels->p_cl);
	put_probability(c_column(), "p_C", levels->p_c);
}

/* Below what is of one queue each: `text` from `line` on, on as many lines as it takes, or as there
 * is room for. Returns the line that follows.
 */
static int put_rest(int line, const char *name, const char *text)
{
	put_text(line, 0, *text ? name : "");
	return put_wrapped(line, LINES - 1, L_COLUMN, text);
}

/* Nothing if there has not been any. */
static int put_overload(int line, const struct dualpi2_overload *overload)
{
	char events[FORMAT_MAX], total[FORMAT_MAX], text[CELL_TEXT_MAX] = "";

	if (overload->events)
		snprintf(text, sizeof(text), "%s: %s since it was attached, %s in all",
			 overload->active ? "now" : "not now",
			 format_count(overload->events, events),
			 format_delay(overload->total_ns, total));
	return put_rest(line, "overload", text);
}

/* "count 12": one of the AQM's own figures. Of what it counts, how often that was. */
static const char *gauge(const struct stat_row *row, const struct figures *interval, char *text)
{
	const struct dualpi2_stats *stats = &interval->stats;

	return row->is_counter ? frequency(interval, (__u64)stat_value(row, stats), text)
			       : stat_text(row, stats, text);
}

/* By the names that --json has; a row without one is a parameter. */
static int put_gauges(int line, const struct sample *now)
{
	char text[CELL_TEXT_MAX] = "", value[FORMAT_MAX];
	size_t used = 0;

	for (const struct stat_row *row = now->aqm->gauges; row->member; row++) {
		if (!row->key)
			continue;
		used = append(text, used, used ? ", " : "");
		used = append(text, used, row->key);
		used = append(text, used, " ");
		used = append(text, used, gauge(row, &now->recent, value));
	}
	return put_rest(line, now->aqm->name, text);
}

int figures_draw(const struct view *view)
{
	const struct sample *now = view->now;
	const struct figures *interval = &now->recent;
	const struct dualpi2_stats *stats = &interval->stats;
	int line;

	for (int i = 0; i < N_FIGURES; i++)
		put_text(FIGURES_LINE + i, 0, names[i] ?: "");
	put_queue(L_COLUMN, "L4S", interval, &stats->l, &interval->delays.l);
	put_queue(c_column(), "Classic", interval, &stats->c, &interval->delays.c);
	put_probabilities(now);
	line = put_overload(FIGURES_LINE + N_FIGURES, &now->total.stats.overload);
	return now->is_sum ? line : put_gauges(line, now);
}
