// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/help.h"

#include <curses.h>

#include "show/show.h"
#include "watch/palette.h"
#include "watch/put.h"

#define MEANING_COLUMN 16

static const struct help_row keys[] = {
	{ "up, down; k, j", "another interface" },
	{ "Enter, right", "show it in full; 1 to 9: the one of that number" },
	{ "Esc, left", "all interfaces" },
	{ "space", "pause, or go on" },
	{ "+, -", "longer, shorter intervals; plots begin anew" },
	{ "q", "quit" },
	{},
}, words[] = {
	{ "used", "of the rate; without one, how much" },
	{ "L 99 %, C 99 %", "99 % of the L4S, Classic packets wait less" },
	{ "marks, drops", "of the packets that arrived" },
	{ "p'", "what the AQM computes: see bpf_dualpi2(7)" },
	{},
};

static const char *const conditions[] = {
	[CONDITION_GOOD] = "it does its work",
	[CONDITION_ATTENTION] = "overload, packets around tcx, or no queue here",
	[CONDITION_BROKEN] = "nothing leaves, or nothing is marked",
};

int help_put(int line, const char *heading, const struct help_row *rows)
{
	attron(A_BOLD);
	put_text(line++, 0, heading);
	attroff(A_BOLD);
	for (; rows->what; rows++, line++) {
		put_text(line, 0, rows->what);
		put_text(line, MEANING_COLUMN, rows->meaning);
	}
	return line;
}

void help_put_foot(void)
{
	put_text(LINES - 1, 0, "any key goes back");
}

void help_draw(void)
{
	int line = help_put(help_put(0, "Keys", keys), "Words", words);

	for (int i = CONDITION_GOOD; i <= CONDITION_BROKEN; i++, line++) {
		attron(palette_condition(i));
		put_text(line, 0, condition_name(i));
		attroff(palette_condition(i));
		put_text(line, MEANING_COLUMN, conditions[i]);
	}
	help_put_foot();
}
