// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/message.h"
#include "sample/pace.h"
#include "watch/history.h"
#include "watch/screen.h"

#define ESCAPE 27
#define ESCAPE_DELAY_MS 50 /* for the rest of what an arrow key sends */

struct watcher {
	struct sampler *sampler;
	struct pace pace;
	struct history history;
	int signals; /* a signalfd */
	size_t selected;
	bool shows_list;
	bool is_done;
};

/* ---- what is seen ---------------------------------------------------------------------- */

static size_t instances(const struct watcher *watcher)
{
	return history_newest(&watcher->history)->count;
}

static void draw(struct watcher *watcher)
{
	const struct samples *newest = history_newest(&watcher->history);
	static struct view view; /* too large for the stack */

	erase();
	if (LINES < SCREEN_LINES || COLS < SCREEN_COLUMNS) {
		screen_draw_too_small();
	} else if (!newest->count) {
		screen_draw_nothing(watcher->sampler->ifname);
	} else if (watcher->shows_list && newest->count > 1) {
		screen_draw_list(&watcher->history, watcher->selected);
	} else {
		history_view(&watcher->history, &newest->items[watcher->selected], &view);
		screen_draw_view(&view, watcher->pace.interval_ns, newest->count > 1);
	}
	refresh();
}

static void select_within(struct watcher *watcher)
{
	if (watcher->selected >= instances(watcher))
		watcher->selected = instances(watcher) ? instances(watcher) - 1 : 0;
}

static bool take_sample(struct watcher *watcher)
{
	struct samples list;

	if (!sampler_take(watcher->sampler, &list))
		return false;
	history_add(&watcher->history, &list);
	select_within(watcher);
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

static void read_keys(struct watcher *watcher)
{
	int key;

	while ((key = getch()) != ERR)
		on_key(watcher, key);
}

/* Wait for a key, a signal, or the time of the next sample. A change of the window's size
 * interrupts it, and then getch() has a key for it.
 */
static void wait_for_something(struct watcher *watcher)
{
	struct pollfd files[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = watcher->signals, .events = POLLIN },
	};
	const uint64_t left_ms = pace_left_ns(&watcher->pace) / DUALPI2_NSEC_PER_MSEC;

	poll(files, 2, (int)left_ms + 1);
	read_keys(watcher);
	if (files[1].revents || files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		watcher->is_done = true;
}

static bool show(struct watcher *watcher)
{
	while (!watcher->is_done) {
		draw(watcher);
		wait_for_something(watcher);
		if (pace_left_ns(&watcher->pace))
			continue;
		pace_next(&watcher->pace);
		if (!take_sample(watcher))
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

static bool watch_sampled(struct watcher *watcher)
{
	if (!instances(watcher))
		return sampler_has_nothing(watcher->sampler);
	watcher->shows_list = instances(watcher) > 1;
	watcher->signals = signalfd(-1, &watcher->pace.ends, SFD_CLOEXEC);
	if (watcher->signals < 0)
		return fail(errno, "cannot wait for signals: end other programs");
	return show_on_terminal(watcher);
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	struct watcher watcher = { .sampler = sampler, .signals = -1 };
	bool watched;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(0, "--watch: this is no terminal: take --jsonl or --interval");
	if (!take_sample(&watcher))
		return false;
	pace_start(&watcher.pace, interval_ns);
	watched = watch_sampled(&watcher);
	if (watcher.signals >= 0)
		close(watcher.signals);
	history_free(&watcher.history);
	return watched;
}
