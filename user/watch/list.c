// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/list.h"

#include <curses.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "show/show.h"
#include "watch/history.h"
#include "watch/palette.h"
#include "watch/put.h"

#define MARGIN 2 /* for the number */
#define WORDS_LINES 2
#define BELOW (WORDS_LINES + 3) /* a blank line, the name, the words, the keys */

/* "7.2 %", "13 %": a share of `whole`, in five characters. */
static const char *percent(double part, double whole, char *text)
{
	const double share = whole > 0 ? 100 * part / whole : 0;

	if (whole <= 0)
		return strcpy(text, "-");
	snprintf(text, FORMAT_MAX, share < 9.95 ? "%.1f %%" : "%.0f %%", share);
	return text;
}

/* ---- cells: of what happened in the last interval, in FORMAT_MAX bytes ------------------- */

static const char *traffic(const struct view *view, char *text)
{
	return strcpy(text, direction_name(view->now->direction));
}

static const char *rate(const struct view *view, char *text)
{
	const double bits = figures_rate(&view->now->total);

	return bits ? format_speed(bits, text) : strcpy(text, "-");
}

/* Of the rate; without one, what it is. */
static const char *used(const struct view *view, char *text)
{
	const double rate = figures_rate(&view->now->total),
		     speed = interval_forwarded(&view->now->recent);

	return rate ? percent(speed, rate, text) : format_speed(speed, text);
}

static const char *queue_speed(const struct view *view, const struct dualpi2_queue *queue,
			       char *text)
{
	return format_speed(interval_speed(&view->now->recent, queue->counters.bytes_out), text);
}

static const char *l_speed(const struct view *view, char *text)
{
	return queue_speed(view, &view->now->recent.stats.l, text);
}

static const char *c_speed(const struct view *view, char *text)
{
	return queue_speed(view, &view->now->recent.stats.c, text);
}

static const char *l_delay(const struct view *view, char *text)
{
	return delay_text(&view->now->recent.delays.l, DELAY_P99, text);
}

static const char *c_delay(const struct view *view, char *text)
{
	return delay_text(&view->now->recent.delays.c, DELAY_P99, text);
}

/* Of the packets that arrived for both queues. */
static const char *share(const struct view *view, __u64 (*count)(const struct dualpi2_counters *),
			 char *text)
{
	const struct dualpi2_counters *l = &view->now->recent.stats.l.counters,
				      *c = &view->now->recent.stats.c.counters;

	return percent(count(l) + count(c), l->packets_in + c->packets_in, text);
}

static const char *marks(const struct view *view, char *text)
{
	return share(view, dualpi2_marks, text);
}

static const char *drops(const struct view *view, char *text)
{
	return share(view, dualpi2_drops, text);
}

/* ---- lines --------------------------------------------------------------------------- */

#define NAME_WIDTH (IF_NAMESIZE - 1)

/* What stands between the name and the state, if the terminal is so wide. */
static const struct column {
	const char *heading;
	int width, from;
	const char *(*cell)(const struct view *view, char *text);
} columns[] = {
	{ "traffic", 7, 0, traffic },	 { "rate", 8, 0, rate },
	{ "used", 8, 0, used },		 { "L leaves", 8, 114, l_speed },
	{ "C leaves", 8, 114, c_speed }, { "L 99 %", 6, 80, l_delay },
	{ "C 99 %", 6, 80, c_delay },	 { "marks", 5, 80, marks },
	{ "drops", 5, 90, drops },
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Cells at their places; where the state is to stand. */
static int put_cells(int line, const struct view *view)
{
	int x = MARGIN + NAME_WIDTH;

	for (size_t i = 0; i < N_COLUMNS; i++) {
		const struct column *column = &columns[i];
		char text[FORMAT_MAX] = "";

		if (COLS < column->from)
			continue;
		if (!view)
			snprintf(text, sizeof(text), "%s", column->heading);
		else if (view->course->count)
			column->cell(view, text);
		mvprintw(line, x + 1, "%*s", column->width, text);
		x += 1 + column->width;
	}
	return x + 1;
}

static void put_state(int line, int column, const struct view *view)
{
	struct diagnosis diagnosis;

	if (!view->course->count)
		return;
	diagnose(view->now, &view->window, &diagnosis);
	if (diagnosis.condition != CONDITION_GOOD)
		put_text(line, column, "!");
	attron(palette_condition(diagnosis.condition));
	put_text(line, column + 2, diagnosis.brief);
	attroff(palette_condition(diagnosis.condition));
}

/* The queues of an mq stand below their sum. */
static void put_name(int line, size_t number, const struct sample *now)
{
	char name[PLACE_MAX], class[FORMAT_MAX];

	if (number <= 9)
		mvprintw(line, 0, "%zu", number);
	if (now->key.parent == TC_H_ROOT)
		sample_name(now->ifname, name);
	else
		snprintf(name, sizeof(name), "  queue %s", format_class(now->key.parent, class));
	mvaddnstr(line, MARGIN, name, NAME_WIDTH);
}

static void put_line(int line, size_t number, const struct view *view, bool is_selected)
{
	const int attribute = is_selected ? A_REVERSE : A_NORMAL;

	attron(attribute);
	mvprintw(line, 0, "%*s", COLS, "");
	put_name(line, number, view->now);
	put_state(line, put_cells(line, view), view);
	attroff(attribute);
}

static void put_selected(const struct view *view)
{
	char name[PLACE_MAX];
	int line = LINES - BELOW + 1;

	attron(A_BOLD);
	put_text(line++, 0, sample_place(view->now, name));
	attroff(A_BOLD);
	put_words(line, WORDS_LINES, view);
}

/* A line each, as many as fit, the selected one among them. */
void list_draw(const struct watcher *watcher)
{
	const size_t count = watcher->history.now.count;
	const size_t room = LINES - 1 - BELOW, selected = watcher->selected;
	const size_t first = selected >= room ? selected - room + 1 : 0;
	struct view view;
	int line = 0;

	attron(A_BOLD);
	put_text(line, MARGIN, "interface");
	put_text(line, put_cells(line, NULL) + 2, "state");
	attroff(A_BOLD);
	for (size_t i = first; i < count && i < first + room; i++) {
		history_view(&watcher->history, i, &view);
		put_line(++line, i + 1, &view, i == selected);
		if (i == selected)
			put_selected(&view);
	}
}
