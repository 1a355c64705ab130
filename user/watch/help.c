// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/help.h"

#include <curses.h>

#include "show/show.h"
#include "watch/palette.h"
#include "watch/put.h"

#define MEANING_COLUMN 16

static const struct {
	const char *what, *meaning;
} keys[] = {
	{ "up, down; k, j", "another interface" },
	{ "Enter, right", "show it in full; 1 to 9: the one of that number" },
	{ "Esc, left", "all interfaces" },
	{ "space", "pause, or go on" },
	{ "+, -", "longer, shorter intervals; plots begin anew" },
	{ "q", "quit" },
}, words[] = {
	{ "used", "of the rate; without one, how much" },
	{ "L 99 %, C 99 %", "99 % of the L4S, Classic packets wait less" },
	{ "marks, drops", "of the packets that arrived" },
	{ "p'", "what the AQM computes: see bpf_dualpi2(7)" },
};

static const char *const conditions[] = {
	[CONDITION_GOOD] = "it does its work",
	[CONDITION_ATTENTION] = "overload, packets around tcx, or no queue here",
	[CONDITION_BROKEN] = "nothing leaves, or nothing is marked",
};

static int put_heading(int line, const char *heading)
{
	attron(A_BOLD);
	put_text(line, 0, heading);
	attroff(A_BOLD);
	return line + 1;
}

void help_draw(void)
{
	int line = put_heading(0, "Keys");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++, line++) {
		put_text(line, 0, keys[i].what);
		put_text(line, MEANING_COLUMN, keys[i].meaning);
	}
	line = put_heading(line, "Words");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++, line++) {
		put_text(line, 0, words[i].what);
		put_text(line, MEANING_COLUMN, words[i].meaning);
	}
	for (int i = CONDITION_GOOD; i <= CONDITION_BROKEN; i++, line++) {
		attron(palette_condition(i));
		put_text(line, 0, condition_name(i));
		attroff(palette_condition(i));
		put_text(line, MEANING_COLUMN, conditions[i]);
	}
	put_text(LINES - 1, 0, "any key goes back");
}
