// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/put.h"

#include <curses.h>
#include <stdio.h>

#include "cli/format.h"
#include "show/show.h"
#include "watch/palette.h"

#define WORDS_COLUMN 11 /* behind the longest name of a condition */

void put_text(int line, int column, const char *text)
{
	if (column < COLS)
		mvaddnstr(line, column, text, COLS - column);
}

int put_wrapped(int line, int end, int column, const char *text)
{
	while (*text && line < end) {
		int length;
		const char *next = format_line(text, COLS - column, &length);

		mvaddnstr(line++, column, text, length);
		text = next;
	}
	return line;
}

void put_words(int line, int lines, const struct view *view)
{
	struct diagnosis diagnosis;

	if (!view->course->count) {
		put_text(line, 0, "the first figures come after the first interval");
		return;
	}
	diagnose(view->now, &view->window, &diagnosis);
	attron(palette_condition(diagnosis.condition));
	put_text(line, 0, condition_name(diagnosis.condition));
	attroff(palette_condition(diagnosis.condition));
	put_wrapped(line, line + lines, WORDS_COLUMN, diagnosis.words);
}

const char *frequency_text(double rate, char *text)
{
	char number[FORMAT_MAX];

	if (rate < 100)
		snprintf(text, FORMAT_MAX, "%.3g/s", rate);
	else
		snprintf(text, FORMAT_MAX, "%s/s", format_count(rate, number));
	return text;
}

const char *frequency(const struct figures *interval, __u64 count, char *text)
{
	return frequency_text(interval_rate(interval, count), text);
}
