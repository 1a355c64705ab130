// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/subscriber_list.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "show/subscribers.h"
#include "watch/help.h"
#include "watch/put.h"

#define ABOVE 2 /* what it is, and the headings */
#define BELOW 1 /* the keys */

#define NAME_WIDTH 16	/* at least */
#define PARENT_WIDTH 12 /* likewise */
#define WIDE_COLUMNS 80 /* from here on they share what is left */

const struct subscriber_order subscriber_orders[N_CROWD_ORDERS] = {
	[CROWD_BY_SPEED] = { 'r', "rate" },    [CROWD_BY_L_DELAY] = { 'l', "P99 L" },
	[CROWD_BY_C_DELAY] = { 'c', "P99 C" }, [CROWD_BY_DROPS] = { 'd', "drops" },
	[CROWD_BY_NAME] = { 'n', "name" },
};

/* ---- cells: written to `text` (FORMAT_MAX bytes), and returned ------------------------- */

static const char *plan(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	(void)crowd;
	return subscriber_plan_text(each, text);
}

/* Nothing is known before the second sample. */
static const char *speed(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	return crowd->recent ? format_speed(crowd_speed(crowd, each), text) : "";
}

static const char *l_delay(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	return crowd->recent ? subscriber_p99_text(&crowd_use(crowd, each)->l, text) : "";
}

static const char *c_delay(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	return crowd->recent ? subscriber_p99_text(&crowd_use(crowd, each)->c, text) : "";
}

static const char *frequency_of(const struct crowd *crowd, __u64 packets, char *text)
{
	if (!crowd->recent)
		return "";
	return packets ? frequency_text(crowd_rate(crowd, packets), text) : "-";
}

static const char *marks(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	const struct subscriber_use *use = crowd_use(crowd, each);

	return frequency_of(crowd, use->l.marks + use->c.marks, text);
}

static const char *drops(const struct crowd *crowd, const struct subscriber *each, char *text)
{
	const struct subscriber_use *use = crowd_use(crowd, each);

	return frequency_of(crowd, use->l.drops + use->c.drops, text);
}

/* What stands between the name and the parent, if the terminal is so wide. */
static const struct column {
	const char *heading;
	int width, from;
	const char *(*cell)(const struct crowd *crowd, const struct subscriber *each, char *text);
} columns[] = {
	{ "plan", 9, 0, plan },	    { "now", 8, 0, speed },    { "P99 L", 6, 0, l_delay },
	{ "P99 C", 6, 0, c_delay }, { "marks", 7, 70, marks }, { "drops", 7, 0, drops },
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* ---- lines --------------------------------------------------------------------------- */

size_t subscriber_list_lines(void)
{
	return LINES > ABOVE + BELOW ? (size_t)(LINES - ABOVE - BELOW) : 0;
}

static int name_width(void)
{
	return COLS > WIDE_COLUMNS ? NAME_WIDTH + (COLS - WIDE_COLUMNS) / 2 : NAME_WIDTH;
}

/* Cells go over what a name has too much. Of nobody (NULL): the headings. */
static void put_line(int line, const struct crowd *crowd, const struct subscriber *each)
{
	char name[SUBSCRIBER_SHOWN_MAX], parent[SUBSCRIBER_SHOWN_MAX];
	int x = name_width();

	put_text(line, 0, each ? subscriber_shown(each, name) : "name");
	for (size_t i = 0; i < N_COLUMNS; i++) {
		const struct column *column = &columns[i];
		char text[FORMAT_MAX];

		if (COLS < column->from)
			continue;
		mvprintw(line, x, " %*s", column->width,
			 each ? column->cell(crowd, each, text) : column->heading);
		x += 1 + column->width;
	}
	mvprintw(line, x, "%*s", COLS - x, "");
	put_text(line, x + 2, each ? subscriber_parent_text(each, parent) : "parent");
}

static void put_head(const struct subscriber_watcher *watcher, const struct crowd *crowd)
{
	char place[PLACE_MAX], head[PLACE_MAX + 128], which[64] = "";

	if (watcher->crowds.count > 1)
		snprintf(which, sizeof(which), " (%zu of %zu)", watcher->shown + 1,
			 watcher->crowds.count);
	snprintf(head, sizeof(head), "%s%s: subscribers and parents: %zu, by %s",
		 sample_place(crowd->sample, place), which, crowd->list.count,
		 subscriber_orders[watcher->order].name);
	attron(A_BOLD);
	put_text(0, 0, head);
	put_line(1, crowd, NULL);
	attroff(A_BOLD);
}

static void put_keys(const struct subscriber_watcher *watcher)
{
	char keys[128];
	size_t used = snprintf(keys, sizeof(keys), "q quit  ? help  by:");

	for (int i = 0; i < N_CROWD_ORDERS; i++)
		used += snprintf(keys + used, sizeof(keys) - used, "%s%c %s", i ? ", " : " ",
				 subscriber_orders[i].key,
				 COLS < WIDE_COLUMNS ? "" : subscriber_orders[i].name);
	live_put_foot(&watcher->live, keys);
}

/* As many as there are lines for. */
static void put_lines(const struct subscriber_watcher *watcher, const struct crowd *crowd)
{
	const size_t lines = subscriber_list_lines(), count = watcher->count;
	const size_t last = count > lines ? count - lines : 0;
	const size_t first = watcher->first < last ? watcher->first : last;

	for (size_t i = 0; i < lines && first + i < count; i++)
		put_line(ABOVE + (int)i, crowd, watcher->sorted[first + i]);
}

void subscriber_list_draw(const struct live *live)
{
	const struct subscriber_watcher *watcher = (const struct subscriber_watcher *)live;
	const struct crowd *crowd = &watcher->crowds.of[watcher->shown];

	if (watcher->crowds.count) {
		put_head(watcher, crowd);
		put_lines(watcher, crowd);
	} else {
		put_text(0, 0, "no subscribers now; waiting for some");
	}
	put_keys(watcher);
}

/* ---- help ---------------------------------------------------------------------------- */

static const struct help_row keys[] = {
	{ "r, l, c, d, n", "by the rate, P99 L, P99 C, drops, name" },
	{ "up, down; k, j", "further; PgUp and PgDn a page, Home and End" },
	{ "left, right", "those of another qdisc, if there are several" },
	{ "space", "pause, or go on" },
	{ "+, -", "longer, shorter intervals" },
	{ "q", "quit" },
	{},
}, words[] = {
	{ "now", "forwarded in the interval; of a parent by all below it" },
	{ "P99 L, P99 C", "99 % of the last L4S, Classic packets wait less" },
	{ "marks, drops", "packets a second of the interval" },
	{ SUBSCRIBER_NOBODY_TEXT, "addresses that no subscriber has" },
	{},
};

void subscriber_list_draw_help(void)
{
	help_put(help_put(0, "Keys", keys), "Words", words);
	help_put_foot();
}
