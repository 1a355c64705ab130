// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "aqm/stat.h"
#include "cli/format.h"
#include "show/show.h"

/* Columns of the figures: what it is, of L, of C. */
#define L_COLUMN 20
#define C_COLUMN 50
#define CELL_MAX 29 /* characters; a blank follows */
#define CELL_TEXT_MAX (2 * FORMAT_MAX)

/* Columns of the plots: what it is, what the full height stands for, 60 intervals. */
#define SCALE_COLUMN 10
#define PLOT_COLUMN (SCREEN_COLUMNS - HISTORY_INTERVALS)

#define FIGURES_LINE 4
#define PLOTS_LINE 15

static void put_keys(const char *keys)
{
	attron(A_DIM);
	mvaddstr(LINES - 1, 0, keys);
	attroff(A_DIM);
}

/* ---- figures ------------------------------------------------------------------------- */

enum { PROBABILITIES = 7, OVERLOAD = 10, N_FIGURES = 11 };

/* A line each. */
static const char *const figures[N_FIGURES] = {
	"",
	"arriving",
	"leaving",
	"delay: half below",
	"       99 % below",
	"       highest",
	"queued now",
	[PROBABILITIES] = "p'",
	"marks by cause",
	"drops by cause",
	[OVERLOAD] = "overload",
};

static void put_cell(int line, int column, const char *text)
{
	mvaddnstr(line, column, text, CELL_MAX);
}

static const char *backlog(const struct dualpi2_queue *queue, char text[CELL_TEXT_MAX])
{
	char packets[FORMAT_MAX], bytes[FORMAT_MAX];

	snprintf(text, CELL_TEXT_MAX, "%s packet%s, %s bytes",
		 format_count(queue->backlog_packets, packets),
		 queue->backlog_packets == 1 ? "" : "s", format_count(queue->backlog_bytes, bytes));
	return text;
}

static void put_probabilities(int line, const struct sample *now)
{
	const struct dualpi2_levels *levels = &now->stats.levels;

	if (now->is_sum) { /* each queue has its own */
		mvaddstr(line, L_COLUMN, "see the queues");
		return;
	}
	mvprintw(line, 0, "p' %.2f %%", 100 * sample_probability(levels->prob));
	mvprintw(line, L_COLUMN, "p_CL %.2f %%", 100 * sample_probability(levels->p_cl));
	mvprintw(line, C_COLUMN, "p_C %.2f %%", 100 * sample_probability(levels->p_c));
}

/* "2.5/s", "2000/s" */
static const char *frequency(const struct sample *interval, __u64 count, char text[CELL_TEXT_MAX])
{
	const double rate = interval_rate(interval, count);
	char number[FORMAT_MAX];

	if (rate < 100)
		snprintf(text, CELL_TEXT_MAX, "%.3g/s", rate);
	else
		snprintf(text, CELL_TEXT_MAX, "%s/s", format_count(rate, number));
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
static const char *causes(const struct sample *interval, const char *prefix,
			  const struct dualpi2_queue *queue, char text[CELL_TEXT_MAX])
{
	char often[CELL_TEXT_MAX];
	size_t used = 0;

	snprintf(text, CELL_TEXT_MAX, "-");
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
		used = append(text, used, frequency(interval, count, often));
	}
	return text;
}

static void put_overload(int line, const struct dualpi2_overload *overload)
{
	char events[FORMAT_MAX], total[FORMAT_MAX];

	if (overload->events)
		mvprintw(line, L_COLUMN, "%s: %s since it was attached, %s in all",
			 overload->active ? "now" : "not now",
			 format_count(overload->events, events),
			 format_delay(overload->total_ns, total));
	else
		mvaddstr(line, L_COLUMN, "never since it was attached");
}

/* In the column of a queue what `figures` names, but for what is of both. */
static void put_queue(int column, const char *name, const struct sample *interval,
		      const struct dualpi2_queue *queue, const struct dualpi2_histogram *delays)
{
	const struct dualpi2_counters *counters = &queue->counters;
	char text[CELL_TEXT_MAX];
	int line = FIGURES_LINE;

	attron(A_BOLD);
	put_cell(line++, column, name);
	attroff(A_BOLD);
	put_cell(line++, column, format_speed(interval_speed(interval, counters->bytes_in), text));
	put_cell(line++, column, format_speed(interval_speed(interval, counters->bytes_out), text));
	put_cell(line++, column, delay_text(delays, DELAY_P50, text));
	put_cell(line++, column, delay_text(delays, DELAY_P99, text));
	put_cell(line++, column, delay_text(delays, DELAY_HIGHEST, text));
	put_cell(line++, column, backlog(queue, text));
	line++;
	put_cell(line++, column, causes(interval, "mark_", queue, text));
	put_cell(line++, column, causes(interval, "drop_", queue, text));
}

static void put_figures(const struct view *view)
{
	const struct sample *interval = &view->interval;
	const struct dualpi2_stats *stats = &interval->stats;

	for (int i = 0; i < N_FIGURES; i++)
		mvaddstr(FIGURES_LINE + i, 0, figures[i]);
	put_queue(L_COLUMN, "L4S", interval, &stats->l, &interval->delays.l);
	put_queue(C_COLUMN, "Classic", interval, &stats->c, &interval->delays.c);
	put_probabilities(FIGURES_LINE + PROBABILITIES, view->now);
	put_overload(FIGURES_LINE + OVERLOAD, &view->now->stats.overload);
}

/* ---- plots --------------------------------------------------------------------------- */

static const char *format_percent(double share, char *text)
{
	snprintf(text, FORMAT_MAX, "%.2f %%", 100 * share);
	return text;
}

static const struct plot {
	const char *name;
	int weight; /* of its height */
	const char *(*format)(double value, char *text);
} plots[N_SERIES] = {
	[SERIES_L_DELAY] = { "L 99 %", 2, format_delay },
	[SERIES_C_DELAY] = { "C 99 %", 2, format_delay },
	[SERIES_L_RATE] = { "L leaving", 1, format_speed },
	[SERIES_C_RATE] = { "C leaving", 1, format_speed },
	[SERIES_PROBABILITY] = { "p'", 1, format_percent },
};

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
		 plots[series].format(highest, scale));
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
	char params[OPTION_TEXT_MAX], name[PLACE_MAX];
	char step[FORMAT_MAX], every[FORMAT_MAX + 8];

	attron(A_BOLD);
	mvprintw(0, 0, "%s: %s%s", sample_place(now, name), now->aqm->kind,
		 params_describe(NULL, true, now->aqm, &now->stats.params, params, sizeof(params)));
	attroff(A_BOLD);
	snprintf(every, sizeof(every), "every %s", format_time(interval_ns, step));
	mvaddstr(0, COLS - (int)strlen(every), every);
}

static void put_words(int line, const struct sample *window)
{
	struct diagnosis diagnosis;
	const char *rest = diagnosis.words;

	diagnose(window, &diagnosis);
	for (int end = line + 2; *rest && line < end; line++) {
		int length;
		const char *next = format_line(rest, COLS, &length);

		mvaddnstr(line, 0, rest, length);
		rest = next;
	}
}

static struct view view; /* too large for the stack */

/* One qdisc, in full. */
static void draw_one(const struct watcher *watcher)
{
	const struct samples *newest = history_newest(&watcher->history);
	const uint64_t interval_ns = watcher->pace.interval_ns;

	history_view(&watcher->history, &newest->items[watcher->selected], &view);
	put_head(view.now, interval_ns);
	if (view.count) {
		put_words(1, &view.window);
		put_figures(&view);
	} else {
		mvaddstr(1, 0, "the first figures come after the first interval");
	}
	put_plots(&view, interval_ns);
	put_keys(newest->count > 1 ? "q quit   Esc all interfaces   up, down: the others"
				   : "q quit");
}

static void put_list_line(int line, const struct view *one, bool selected)
{
	const struct sample *interval = &one->interval;
	const struct dualpi2_queue *l = &interval->stats.l, *c = &interval->stats.c;
	const __u64 dropped = dualpi2_drops(&l->counters) + dualpi2_drops(&c->counters);
	char name[PLACE_MAX], text[4][FORMAT_MAX], often[CELL_TEXT_MAX];
	const int attribute = selected ? A_REVERSE : A_NORMAL;

	attron(attribute);
	mvprintw(line, 0, "%-22.22s %8s %8s %8s %8s %7.2f %8s", sample_place(one->now, name),
		 format_speed(interval_speed(interval, l->counters.bytes_out), text[0]),
		 format_speed(interval_speed(interval, c->counters.bytes_out), text[1]),
		 delay_text(&interval->delays.l, DELAY_P99, text[2]),
		 delay_text(&interval->delays.c, DELAY_P99, text[3]),
		 100 * sample_probability(one->now->stats.levels.prob),
		 frequency(interval, dropped, often));
	attroff(attribute);
}

/* A line each, as many as fit, the selected one among them; what it does stands below. */
static void draw_list(const struct watcher *watcher)
{
	const struct samples *list = history_newest(&watcher->history);
	const size_t room = LINES - 5, selected = watcher->selected;
	size_t first = selected >= room ? selected - room + 1 : 0;
	int line = 0;

	attron(A_BOLD);
	mvprintw(line++, 0, "%-22s %8s %8s %8s %8s %7s %8s", "", "L leaves", "C leaves", "L 99 %",
		 "C 99 %", "p' %", "drops");
	attroff(A_BOLD);
	for (size_t i = first; i < list->count && i < first + room; i++) {
		history_view(&watcher->history, &list->items[i], &view);
		put_list_line(line++, &view, i == selected);
		if (i == selected && view.count)
			put_words(LINES - 4, &view.window);
	}
	put_keys("q quit   up, down: move   Enter: look at it");
}

static void draw_nothing(const char *ifname)
{
	mvprintw(0, 0, "%s: no %s qdisc now; waiting for one", ifname ?: "here",
		 aqm_default()->kind);
	put_keys("q quit");
}

void screen_draw(const struct watcher *watcher)
{
	const size_t count = history_newest(&watcher->history)->count;

	erase();
	if (LINES < SCREEN_LINES || COLS < SCREEN_COLUMNS)
		mvprintw(0, 0, "%dx%d is too small\n%dx%d, please", COLS, LINES, SCREEN_COLUMNS,
			 SCREEN_LINES);
	else if (!count)
		draw_nothing(watcher->sampler->ifname);
	else if (watcher->shows_list && count > 1)
		draw_list(watcher);
	else
		draw_one(watcher);
	refresh();
}
