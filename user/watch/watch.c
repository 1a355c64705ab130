// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/message.h"

#define ESCAPE 27
#define ESCAPE_DELAY_MS 50 /* for the rest of what an arrow key sends */

static size_t instances(const struct watcher *watcher)
{
	return history_newest(&watcher->history)->count;
}

static bool take_sample(struct watcher *watcher)
{
	struct samples list;

	if (!sampler_take(watcher->sampler, &list))
		return false;
	history_add(&watcher->history, &list);
	if (watcher->selected >= list.count)
		watcher->selected = list.count ? list.count - 1 : 0;
	return true;
}

/* ---- what is pressed ------------------------------------------------------------------- */

static void on_key(struct watcher *watcher, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		watcher->is_done = true;
		break;
	case KEY_UP:
	case 'k':
		watcher->selected -= watcher->selected > 0;
		break;
	case KEY_DOWN:
	case 'j':
		watcher->selected += watcher->selected + 1 < instances(watcher);
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		watcher->shows_list = false;
		break;
	case ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
		watcher->shows_list = true;
		break;
	default: /* KEY_RESIZE: drawn anew anyway */
		break;
	}
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
			on_key(watcher, key);
		if (event == PACE_END)
			break;
		if (event == PACE_DUE && !take_sample(watcher))
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
	shown = show(watcher);
	endwin();
	delscreen(screen);
	message_release();
	return shown;
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	struct watcher watcher = { .sampler = sampler };
	bool watched;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(0, "--watch: this is no terminal: take --jsonl or --interval");
	if (!take_sample(&watcher))
		return false;
	watcher.shows_list = instances(&watcher) > 1;
	if (!instances(&watcher))
		watched = sampler_has_nothing(sampler);
	else
		watched = pace_start(&watcher.pace, interval_ns) && show_on_terminal(&watcher);
	history_free(&watcher.history);
	return watched;
}
