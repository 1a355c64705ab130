// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/live.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/message.h"
#include "dualpi2.h"
#include "watch/palette.h"
#include "watch/put.h"

#define ESCAPE_DELAY_MS 50 /* for the rest of what an arrow key sends */

/* ---- keys ---------------------------------------------------------------------------- */

/* What + and - choose from, in ns. */
static const uint64_t intervals[] = {
	10 * DUALPI2_NSEC_PER_MSEC,  20 * DUALPI2_NSEC_PER_MSEC,  50 * DUALPI2_NSEC_PER_MSEC,
	100 * DUALPI2_NSEC_PER_MSEC, 200 * DUALPI2_NSEC_PER_MSEC, 500 * DUALPI2_NSEC_PER_MSEC,
	1 * DUALPI2_NSEC_PER_SEC,    2 * DUALPI2_NSEC_PER_SEC,	  5 * DUALPI2_NSEC_PER_SEC,
	10 * DUALPI2_NSEC_PER_SEC,   20 * DUALPI2_NSEC_PER_SEC,	  60 * DUALPI2_NSEC_PER_SEC,
};

#define N_INTERVALS (sizeof(intervals) / sizeof(intervals[0]))

/* The next longer one, or itself if there is none. */
static uint64_t longer(uint64_t interval_ns)
{
	for (size_t i = 0; i < N_INTERVALS; i++) {
		if (intervals[i] > interval_ns)
			return intervals[i];
	}
	return interval_ns;
}

static uint64_t shorter(uint64_t interval_ns)
{
	for (size_t i = N_INTERVALS; i > 0; i--) {
		if (intervals[i - 1] < interval_ns)
			return intervals[i - 1];
	}
	return interval_ns;
}

/* And a pause ends. */
static void change_interval(struct live *live, uint64_t interval_ns)
{
	if (interval_ns == live->pace.interval_ns)
		return;
	pace_change(&live->pace, interval_ns);
	if (live->view->restart)
		live->view->restart(live);
	live->is_paused = false;
}

static void press(struct live *live, int key)
{
	if (key == KEY_RESIZE) /* all is drawn anew anyway */
		return;
	if (live->shows_help) { /* any key leaves it */
		live->shows_help = false;
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		live->is_done = true;
		break;
	case '?':
	case 'h':
		live->shows_help = true;
		break;
	case ' ':
		live->is_paused = !live->is_paused;
		break;
	case '+':
		change_interval(live, longer(live->pace.interval_ns));
		break;
	case '-':
		change_interval(live, shorter(live->pace.interval_ns));
		break;
	default:
		live->view->press(live, key);
	}
}

/* ---- the screen ---------------------------------------------------------------------- */

void live_put_foot(const struct live *live, const char *keys)
{
	char step[FORMAT_MAX], rhythm[FORMAT_MAX + 8];

	snprintf(rhythm, sizeof(rhythm), "every %s", format_time(live->pace.interval_ns, step));
	attron(A_DIM);
	put_text(LINES - 1, 0, keys);
	attroff(A_DIM);
	if (live->is_paused) {
		attron(A_REVERSE);
		mvaddstr(LINES - 1, COLS - (int)strlen("paused") - 1, "paused");
		attroff(A_REVERSE);
	} else {
		mvaddstr(LINES - 1, COLS - (int)strlen(rhythm) - 1, rhythm);
	}
}

void live_draw(const struct live *live)
{
	erase();
	if (LINES < LIVE_LINES || COLS < LIVE_COLUMNS)
		mvprintw(0, 0, "%dx%d is too small\n%dx%d, please", COLS, LINES, LIVE_COLUMNS,
			 LIVE_LINES);
	else if (live->shows_help)
		live->view->draw_help();
	else
		live->view->draw(live);
	refresh();
}

/* Of a change of the window's size getch() makes a key. */
static bool show(struct live *live)
{
	while (!live->is_done) {
		enum pace_event event;
		int key;

		live_draw(live);
		event = pace_wait(&live->pace, STDIN_FILENO);
		while ((key = getch()) != ERR)
			press(live, key);
		if (event == PACE_END)
			break;
		if (event == PACE_DUE && !live->is_paused && !live->view->take(live))
			return false;
	}
	return true;
}

/* ---- the terminal -------------------------------------------------------------------- */

bool live_has_terminal(const char *without)
{
	return (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) ||
	       fail(0, "--watch: standard input or output is not a terminal: %s", without);
}

/* Called with the terminal as it was, and leaves it so. */
static bool show_on_terminal(struct live *live)
{
	SCREEN *screen;
	bool shown;

	/* The window's size counts, which these do not follow. */
	unsetenv("COLUMNS");
	unsetenv("LINES");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return fail(0, "--watch: $TERM is no terminal that ncurses knows: set it, for "
			       "example TERM=xterm");
	message_hold();
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	palette_init();
	shown = show(live);
	endwin();
	delscreen(screen);
	message_release();
	return shown;
}

bool live_show(struct live *live, uint64_t interval_ns)
{
	return pace_start(&live->pace, interval_ns) && show_on_terminal(live);
}
