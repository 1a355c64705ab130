// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/message.h"
#include "watch/history.h"
#include "watch/keys.h"
#include "watch/palette.h"
#include "watch/screen.h"

#define ESCAPE_DELAY_MS 50 /* for the rest of what an arrow key sends */

/* The selected qdisc stays so, wherever it is in the new list. */
static bool take_sample(struct watcher *watcher)
{
	const struct history *history = &watcher->history;
	struct sample selected = {};
	const struct sample *again;
	struct samples list;

	if (!sampler_take(watcher->sampler, &list))
		return false;
	if (history->count && history_newest(history)->count)
		selected = history_newest(history)->items[watcher->selected];
	if (!history_add(&watcher->history, &list))
		return false;
	again = interval_find(&list, &selected);
	if (again)
		watcher->selected = again - list.items;
	else if (watcher->selected >= list.count)
		watcher->selected = list.count ? list.count - 1 : 0;
	return true;
}

/* Of a change of the window's size getch() makes a key. */
static bool show(struct watcher *watcher)
{
	while (!watcher->is_done) {
		enum pace_event event;
		int key;

		screen_draw(watcher);
		event = pace_wait(&watcher->pace, STDIN_FILENO);
		while ((key = getch()) != ERR)
			key_pressed(watcher, key);
		if (event == PACE_END)
			break;
		if (event == PACE_DUE && !watcher->is_paused && !take_sample(watcher))
			return false;
	}
	return true;
}

/* ---- the terminal ---------------------------------------------------------------------- */

/* Called with the terminal as it was, and leaves it so. */
static bool show_on_terminal(struct watcher *watcher)
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
	shown = show(watcher);
	endwin();
	delscreen(screen);
	message_release();
	return shown;
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	struct watcher watcher = { .sampler = sampler };
	size_t count;
	bool watched;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(
			0,
			"--watch: standard input or output is not a terminal: use --jsonl or --interval");
	if (!take_sample(&watcher))
		return false;
	count = history_newest(&watcher.history)->count;
	watcher.shows_list = count > 1;
	if (!count)
		watched = sampler_has_nothing(sampler);
	else
		watched = pace_start(&watcher.pace, interval_ns) && show_on_terminal(&watcher);
	history_free(&watcher.history);
	return watched;
}
