// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/screen.h"

#include <curses.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "aqm/stat.h"
#include "cli/format.h"
#include "sample/interval.h"
#include "show/bars.h"
#include "show/diagnosis.h"

/* Columns of the figures: what it is, of L, of C. */
#define L_COLUMN 20
#define C_COLUMN 50
#define CELL_MAX 29 /* characters; a blank follows */

/* Columns of the plots: what it is, what the full height stands for, 60 intervals. */
#define SCALE_COLUMN 10
#define PLOT_COLUMN (SCREEN_COLUMNS - HISTORY_INTERVALS)

#define FIGURES_LINE 4
#define PLOTS_LINE 15

static void put_right(int line, const char *text)
{
	mvaddstr(line, COLS - (int)strlen(text), text);
}

static void put_keys(const char *keys)
{
	attron(A_DIM);
	mvaddstr(LINES - 1, 0, keys);
	attroff(A_DIM);
}

/* "eth0", and which queue of an mq. */
static const char *place_name(const struct sample *sample, char text[2 * FORMAT_MAX])
{
	char class[FORMAT_MAX];

	if (sample->key.parent == TC_H_ROOT)
		snprintf(text, 2 * FORMAT_MAX, "%s%s", sample->ifname,
			 sample->is_sum ? ", all queues" : "");
	else
		snprintf(text, 2 * FORMAT_MAX, "%s, queue %s", sample->ifname,
			 format_class(sample->key.parent, class));
	return text;
}

/* ---- figures ------------------------------------------------------------------------- */

static void put_row(int line, const char *what, const char *l, const char *c)
{
	mvaddstr(line, 0, what);
	mvaddnstr(line, L_COLUMN, l, CELL_MAX);
	mvaddnstr(line, C_COLUMN, c, CELL_MAX);
}

static void put_speeds(int line, const char *what, const struct sample *interval, __u64 l_bytes,
		       __u64 c_bytes)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	put_row(line, what, format_speed(interval_speed(interval, l_bytes), l),
		format_speed(interval_speed(interval, c_bytes), c));
}

static void put_delays(int line, const char *what, __u64 l_ns, __u64 c_ns)
{
	char l[FORMAT_MAX], c[FORMAT_MAX];

	put_row(line, what, format_delay(l_ns, l), format_delay(c_ns, c));
}

static const char *backlog(const struct dualpi2_queue *queue, char text[2 * FORMAT_MAX])
{
	char packets[FORMAT_MAX], bytes[FORMAT_MAX];

	snprintf(text, 2 * FORMAT_MAX, "%s packet%s, %s bytes",
		 format_count(queue->backlog_packets, packets),
		 queue->backlog_packets == 1 ? "" : "s", format_count(queue->backlog_bytes, bytes));
	return text;
}

static void put_backlogs(int line, const struct dualpi2_stats *stats)
{
	char l[2 * FORMAT_MAX], c[2 * FORMAT_MAX];

	put_row(line, "queued now", backlog(&stats->l, l), backlog(&stats->c, c));
}

static void put_probabilities(int line, const struct sample *now)
{
	const struct probabilities p = sample_probabilities(&now->stats);
	char what[FORMAT_MAX], l[FORMAT_MAX], c[FORMAT_MAX];

	if (now->is_sum) { /* each queue has its own */
		put_row(line, "p'", "see the queues", "");
		return;
	}
	snprintf(what, sizeof(what), "p' %.2f %%", 100 * p.p);
	snprintf(l, sizeof(l), "p_CL %.2f %%", 100 * p.l4s);
	snprintf(c, sizeof(c), "p_C %.2f %%", 100 * p.classic);
	put_row(line, what, l, c);
}

/* "2.5/s", "2000/s" */
static const char *frequency(const struct sample *interval, __u64 count, char text[2 * FORMAT_MAX])
{
	const double rate = interval_rate(interval, count);
	char number[FORMAT_MAX];

	if (rate < 100)
		snprintf(text, 2 * FORMAT_MAX, "%.3g/s", rate);
	else
		snprintf(text, 2 * FORMAT_MAX, "%s/s", format_count(rate, number));
	return text;
}

/* "no memory 2.5/s, limit 8/s": how often what happened of the causes in packets whose members
 * begin so.
 */
static const char *causes(const struct sample *interval, const char *prefix,
			  const struct dualpi2_queue *queue, char text[CELL_MAX * 2])
{
	char often[2 * FORMAT_MAX];
	size_t used = 0;

	snprintf(text, CELL_MAX * 2, "-");
	for (const struct stat_row *row = queue_rows; row->member; row++) {
		const __u64 count = (__u64)stat_value(row, queue);

		if (!count || strncmp(row->member, prefix, strlen(prefix)) ||
		    strcmp(row->unit, "packets") || used >= CELL_MAX * 2)
			continue;
		used += snprintf(text + used, CELL_MAX * 2 - used, "%s", used ? ", " : "");
		for (const char *c = row->member + strlen(prefix); *c && used < CELL_MAX * 2 - 1;
		     c++)
			text[used++] = *c == '_' ? ' ' : *c;
		used += snprintf(text + used, CELL_MAX * 2 - used, " %s",
				 frequency(interval, count, often));
	}
	return text;
}

static void put_overload(int line, const struct dualpi2_overload *overload)
{
	char events[FORMAT_MAX], total[FORMAT_MAX], text[3 * FORMAT_MAX];

	if (overload->events)
		snprintf(text, sizeof(text), "%s: %s since it was attached, %s in all",
			 overload->active ? "now" : "not now",
			 format_count(overload->events, events),
			 format_delay(overload->total_ns, total));
	else
		snprintf(text, sizeof(text), "never since it was attached");
	mvaddstr(line, 0, "overload");
	mvaddstr(line, L_COLUMN, text);
}

static void put_figures(const struct view *view)
{
	const struct sample *interval = &view->interval;
	const struct dualpi2_queue *l = &interval->stats.l, *c = &interval->stats.c;
	const struct dualpi2_histogram *l_delays = &interval->delays.l;
	const struct dualpi2_histogram *c_delays = &interval->delays.c;
	char l_text[CELL_MAX * 2], c_text[CELL_MAX * 2];
	int line = FIGURES_LINE;

	attron(A_BOLD);
	put_row(line++, "", "L4S", "Classic");
	attroff(A_BOLD);
	put_speeds(line++, "arriving", interval, l->counters.bytes_in, c->counters.bytes_in);
	put_speeds(line++, "leaving", interval, l->counters.bytes_out, c->counters.bytes_out);
	put_delays(line++, "delay: half below", histogram_quantile(l_delays, 500),
		   histogram_quantile(c_delays, 500));
	put_delays(line++, "       99 % below", histogram_quantile(l_delays, 990),
		   histogram_quantile(c_delays, 990));
	put_delays(line++, "       highest", l_delays->max_ns, c_delays->max_ns);
	put_backlogs(line++, &view->now->stats);
	put_probabilities(line++, view->now);
	put_row(line++, "marks by cause", causes(interval, "mark_", l, l_text),
		causes(interval, "mark_", c, c_text));
	put_row(line++, "drops by cause", causes(interval, "drop_", l, l_text),
		causes(interval, "drop_", c, c_text));
	put_overload(line, &view->now->stats.overload);
}

/* ---- plots --------------------------------------------------------------------------- */

static const struct plot {
	const char *name;
	int weight; /* of its height */
} plots[N_SERIES] = {
	[SERIES_L_DELAY] = { "L 99 %", 2 },   [SERIES_C_DELAY] = { "C 99 %", 2 },
	[SERIES_L_RATE] = { "L leaving", 1 }, [SERIES_C_RATE] = { "C leaving", 1 },
	[SERIES_PROBABILITY] = { "p'", 1 },
};

static const char *scale_text(enum series series, double highest, char text[FORMAT_MAX])
{
	switch (series) {
	case SERIES_L_DELAY:
	case SERIES_C_DELAY:
		return format_delay(highest, text);
	case SERIES_L_RATE:
	case SERIES_C_RATE:
		return format_speed(highest, text);
	default:
		snprintf(text, FORMAT_MAX, "%.2f %%", 100 * highest);
		return text;
	}
}

/* The newest is at the right; the highest value takes the full height. */
static void put_plot(int line, int height, enum series series, const struct view *view)
{
	const double *values = view->series[series];
	const int first = COLS - (int)view->count;
	char scale[FORMAT_MAX];
	double highest = 0;

	for (size_t i = 0; i < view->count; i++)
		highest = values[i] > highest ? values[i] : highest;
	mvaddstr(line, 0, plots[series].name);
	mvprintw(line, SCALE_COLUMN, "%*s", PLOT_COLUMN - SCALE_COLUMN - 1,
		 scale_text(series, highest, scale));
	for (size_t i = 0; i < view->count && highest > 0; i++) {
		for (int row = 0; row < height; row++)
			mvaddstr(line + height - 1 - row, first + (int)i,
				 bar_upward(values[i] / highest, height, row));
	}
}

static void put_plots(const struct view *view, uint64_t interval_ns)
{
	char span[FORMAT_MAX], step[FORMAT_MAX];
	int line = PLOTS_LINE, total = 0, unit;

	for (int i = 0; i < N_SERIES; i++)
		total += plots[i].weight;
	unit = (LINES - 2 - line) / total; /* a line for the title, one for the keys */
	attron(A_BOLD);
	mvprintw(line++, 0, "the last %s, highest value at the left, steps of %s",
		 format_time(HISTORY_INTERVALS * interval_ns, span),
		 format_time(interval_ns, step));
	attroff(A_BOLD);
	for (int i = 0; i < N_SERIES; i++) {
		put_plot(line, unit * plots[i].weight, i, view);
		line += unit * plots[i].weight;
	}
}

/* ---- screens ------------------------------------------------------------------------- */

static void put_head(const struct sample *now, uint64_t interval_ns)
{
	char params[OPTION_TEXT_MAX], name[2 * FORMAT_MAX];
	char step[FORMAT_MAX], every[FORMAT_MAX + 8];

	attron(A_BOLD);
	mvprintw(0, 0, "%s: %s%s", place_name(now, name), now->aqm->kind,
		 params_describe(NULL, true, now->aqm, &now->stats.params, params, sizeof(params)));
	attroff(A_BOLD);
	snprintf(every, sizeof(every), "every %s", format_time(interval_ns, step));
	put_right(0, every);
}

static void put_words(int line, const struct sample *window)
{
	char words[DIAGNOSIS_MAX];
	const char *rest = diagnose(window, words);

	for (int lines = 0; *rest && lines < 2; lines++) {
		size_t length = diagnosis_line(rest, COLS);

		mvaddnstr(line + lines, 0, rest, (int)length);
		rest += length;
		rest += *rest == ' ';
	}
}

void screen_draw_view(const struct view *view, uint64_t interval_ns, bool is_one_of_several)
{
	put_head(view->now, interval_ns);
	if (view->count) {
		put_words(1, &view->window);
		put_figures(view);
	} else {
		mvaddstr(1, 0, "the first figures come after the first interval");
	}
	put_plots(view, interval_ns);
	put_keys(is_one_of_several ? "q quit   Esc all interfaces   up, down: the others"
				   : "q quit");
}

static void put_list_line(int line, const struct view *view, bool selected)
{
	const struct sample *interval = &view->interval;
	const struct dualpi2_queue *l = &interval->stats.l, *c = &interval->stats.c;
	const __u64 dropped = dualpi2_drops(&l->counters) + dualpi2_drops(&c->counters);
	char name[2 * FORMAT_MAX], text[4][FORMAT_MAX], often[2 * FORMAT_MAX];
	const int attribute = selected ? A_REVERSE : A_NORMAL;

	attron(attribute);
	mvprintw(line, 0, "%-22.22s %8s %8s %8s %8s %7.2f %8s", place_name(view->now, name),
		 format_speed(interval_speed(interval, l->counters.bytes_out), text[0]),
		 format_speed(interval_speed(interval, c->counters.bytes_out), text[1]),
		 format_delay(histogram_quantile(&interval->delays.l, 990), text[2]),
		 format_delay(histogram_quantile(&interval->delays.c, 990), text[3]),
		 100 * sample_probabilities(&view->now->stats).p,
		 frequency(interval, dropped, often));
	attroff(attribute);
}

/* As many as fit, the selected one among them; what it does stands below. */
void screen_draw_list(const struct history *history, size_t selected)
{
	const struct samples *list = history_newest(history);
	const size_t room = LINES - 5;
	size_t first = selected >= room ? selected - room + 1 : 0;
	static struct view view; /* too large for the stack */
	int line = 0;

	attron(A_BOLD);
	mvprintw(line++, 0, "%-22s %8s %8s %8s %8s %7s %8s", "", "L leaves", "C leaves", "L 99 %",
		 "C 99 %", "p' %", "drops");
	attroff(A_BOLD);
	for (size_t i = first; i < list->count && i < first + room; i++) {
		history_view(history, &list->items[i], &view);
		put_list_line(line++, &view, i == selected);
		if (i == selected && view.count)
			put_words(LINES - 4, &view.window);
	}
	put_keys("q quit   up, down: move   Enter: look at it");
}

void screen_draw_nothing(const char *ifname)
{
	mvprintw(0, 0, "%s: no %s qdisc now; waiting for one", ifname ? ifname : "here",
		 aqm_default()->kind);
	put_keys("q quit");
}

void screen_draw_too_small(void)
{
	mvprintw(0, 0, "%dx%d is too small", COLS, LINES);
	mvprintw(1, 0, "%dx%d, please", SCREEN_COLUMNS, SCREEN_LINES);
}
