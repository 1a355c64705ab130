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

/* ---- cells --------------------------------------------------------------------------- */

static const char *arriving(const struct figures *interval, const struct dualpi2_queue *queue,
			    char text[CELL_TEXT_MAX])
{
	return format_speed(interval_speed(interval, queue->counters.bytes_in), text);
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

/* "626/s, 12.5 %": how often, and of how many of the packets that arrived. */
static const char *often(const struct figures *interval,
			 __u64 (*count)(const struct dualpi2_counters *),
			 const struct dualpi2_queue *queue, char text[CELL_TEXT_MAX])
{
	const __u64 happened = count(&queue->counters);
	char rate[FORMAT_MAX], share[FORMAT_MAX];

	if (!happened)
		return strcpy(text, "-");
	snprintf(text, CELL_TEXT_MAX, "%s, %s", frequency(interval, happened, rate),
		 format_share((double)happened, (double)queue->counters.packets_in, share));
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

/* A blank follows each cell. */
static void put_row(int line, const char *name, const char *l, const char *c)
{
	const int width = (COLS - L_COLUMN) / 2;

	put_text(line, 0, name);
	mvaddnstr(line, L_COLUMN, l, width - 1);
	mvaddnstr(line, L_COLUMN + width, c, width - 1);
}

static void put_delay(int line, const char *name, const struct dualpi2_delays *delays,
		      enum delay asked)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	put_row(line, name, delay_text(&delays->l, asked, l), delay_text(&delays->c, asked, c));
}

static const char *probability(const char *name, __u32 kept, char text[FORMAT_MAX])
{
	snprintf(text, FORMAT_MAX, "%s %.2f %%", name, 100 * sample_probability(kept));
	return text;
}

static void put_probabilities(int line, const struct sample *now)
{
	const struct dualpi2_levels *levels = &now->total.stats.levels;
	char prob[FORMAT_MAX], p_cl[FORMAT_MAX], p_c[FORMAT_MAX];

	if (!sample_is_dualq(now)) /* each queue has its own */
		put_row(line, "p'", "see the queues", "");
	else
		put_row(line, probability("p'", levels->prob, prob),
			probability("p_CL", levels->p_cl, p_cl),
			probability("p_C", levels->p_c, p_c));
}

/* What is of one queue each, and the probabilities. Returns the line that follows. */
static int put_queues(int line, const struct sample *now)
{
	const struct figures *in = &now->recent;
	const struct dualpi2_queue *l = &in->stats.l, *c = &in->stats.c;
	char l_text[CELL_TEXT_MAX], c_text[CELL_TEXT_MAX];

	attron(A_BOLD);
	put_row(line++, "", "L4S", "Classic");
	attroff(A_BOLD);
	put_row(line++, "arriving", arriving(in, l, l_text), arriving(in, c, c_text));
	put_row(line++, "leaving", leaving(in, l, l_text), leaving(in, c, c_text));
	put_delay(line++, "delay: half below", &in->delays, DELAY_P50);
	put_delay(line++, "       99 % below", &in->delays, DELAY_P99);
	put_delay(line++, "       highest", &in->delays, DELAY_HIGHEST);
	put_row(line++, "queued now", backlog(l, l_text), backlog(c, c_text));
	put_probabilities(line++, now);
	put_row(line++, "marks", often(in, dualpi2_marks, l, l_text),
		often(in, dualpi2_marks, c, c_text));
	put_row(line++, "      by cause", causes(in, "mark_", l, l_text),
		causes(in, "mark_", c, c_text));
	put_row(line++, "drops", often(in, dualpi2_drops, l, l_text),
		often(in, dualpi2_drops, c, c_text));
	put_row(line++, "      by cause", causes(in, "drop_", l, l_text),
		causes(in, "drop_", c, c_text));
	return line;
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
	const int line = put_overload(put_queues(FIGURES_LINE, now), &now->total.stats.overload);

	return sample_is_dualq(now) ? put_gauges(line, now) : line;
}
