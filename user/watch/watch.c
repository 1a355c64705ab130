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
	const struct samples *before = &watcher->history.now;
	const struct sample *again = NULL;
	struct samples list;

	if (!sampler_take(watcher->sampler, &list))
		return false;
	if (before->count)
		again = interval_find(&list, &before->items[watcher->selected], watcher->selected);
	if (again)
		watcher->selected = again - list.items;
	else if (watcher->selected >= list.count)
		watcher->selected = list.count ? list.count - 1 : 0;
	return history_add(&watcher->history, &list);
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

/* That there is nothing to begin with is a failure. */
static bool begin(struct watcher *watcher, uint64_t interval_ns)
{
	const size_t count = watcher->history.now.count;

	watcher->shows_list = count > 1;
	if (!count)
		return sampler_has_nothing(watcher->sampler);
	return pace_start(&watcher->pace, interval_ns) && show_on_terminal(watcher);
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	struct watcher watcher = { .sampler = sampler };
	bool watched;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(
			0,
			"--watch: standard input or output is not a terminal: use --jsonl or --interval");
	watched = take_sample(&watcher) && begin(&watcher, interval_ns);
	history_free(&watcher.history);
	return watched;
}
