// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/plots.h"

#include <curses.h>
#include <stdio.h>

#include "cli/format.h"
#include "show/show.h"
#include "watch/put.h"

/* Columns: what it is, what the full height stands for, the intervals. */
#define SCALE_COLUMN 10
#define PLOT_COLUMN 20

static const char *format_percent(double share, char *text)
{
	snprintf(text, FORMAT_MAX, "%.2f %%", 100 * share);
	return text;
}

/* The most important ones first: where there is little room, the others are left out. */
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
static void put_plot(int line, int height, enum series series, const struct course *course,
		     size_t shown)
{
	const double *values = course->series[series] + course->count - shown;
	char scale[FORMAT_MAX];
	double highest = 0;

	for (size_t i = 0; i < shown; i++)
		highest = values[i] > highest ? values[i] : highest;
	put_text(line, 0, plots[series].name);
	mvprintw(line, SCALE_COLUMN, "%*s", PLOT_COLUMN - SCALE_COLUMN - 1,
		 plots[series].format(highest, scale));
	for (size_t i = 0; i < shown && highest > 0; i++) {
		for (int row = 0; row < height; row++)
			mvaddstr(line + height - 1 - row, COLS - (int)(shown - i),
				 bar_upward(values[i] / highest, height, row));
	}
}

/* As many intervals as there are columns for. */
static size_t intervals_shown(void)
{
	const size_t room = COLS - PLOT_COLUMN;

	return room < COURSE_INTERVALS ? room : COURSE_INTERVALS;
}

void plots_draw(int line, const struct course *course, uint64_t interval_ns)
{
	const size_t room = intervals_shown();
	const size_t shown = course->count < room ? course->count : room;
	const int lines = LINES - 2 - line; /* a line for the title, one for the keys */
	const int count = lines < N_SERIES ? lines : N_SERIES;
	char span[FORMAT_MAX], step[FORMAT_MAX], title[2 * FORMAT_MAX + 64];
	int total = 0;

	if (count <= 0)
		return;
	for (int i = 0; i < count; i++)
		total += plots[i].weight;
	snprintf(title, sizeof(title), "the last %s, highest value at the left, steps of %s",
		 format_time(room * interval_ns, span), format_time(interval_ns, step));
	attron(A_BOLD);
	put_text(line++, 0, title);
	attroff(A_BOLD);
	for (int i = 0; i < count; i++) {
		const int height = 1 + (lines - count) * plots[i].weight / total;

		put_plot(line, height, i, course, shown);
		line += height;
	}
}
