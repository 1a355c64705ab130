// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/keys.h"

#include <curses.h>

#include "watch/history.h"

#define ESCAPE 27

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

/* The steps of a plot are of one length, so it begins anew; and a pause ends. */
static void change_interval(struct watcher *watcher, uint64_t interval_ns)
{
	if (interval_ns == watcher->pace.interval_ns)
		return;
	pace_change(&watcher->pace, interval_ns);
	history_restart(&watcher->history);
	watcher->is_paused = false;
}

static void open_number(struct watcher *watcher, size_t number)
{
	if (number > watcher->history.now.count)
		return;
	watcher->selected = number - 1;
	watcher->shows_list = false;
}

void key_pressed(struct watcher *watcher, int key)
{
	const uint64_t interval_ns = watcher->pace.interval_ns;

	if (key == KEY_RESIZE) /* all is drawn anew anyway */
		return;
	if (watcher->shows_help) { /* any key leaves it */
		watcher->shows_help = false;
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		watcher->is_done = true;
		break;
	case '?':
	case 'h':
		watcher->shows_help = true;
		break;
	case ' ':
		watcher->is_paused = !watcher->is_paused;
		break;
	case '+':
		change_interval(watcher, longer(interval_ns));
		break;
	case '-':
		change_interval(watcher, shorter(interval_ns));
		break;
	case KEY_UP:
	case 'k':
		watcher->selected -= watcher->selected > 0;
		break;
	case KEY_DOWN:
	case 'j':
		watcher->selected += watcher->selected + 1 < watcher->history.now.count;
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
	case KEY_RIGHT:
		watcher->shows_list = false;
		break;
	case ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
		watcher->shows_list = true;
		break;
	default:
		if (key >= '1' && key <= '9')
			open_number(watcher, (size_t)(key - '0'));
	}
}
