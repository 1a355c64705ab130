// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/keys.h"

#include <curses.h>

#include "watch/history.h"

#define ESCAPE 27

static void open_number(struct watcher *watcher, size_t number)
{
	if (number > watcher->history.now.count)
		return;
	watcher->selected = number - 1;
	watcher->shows_list = false;
}

void key_pressed(struct live *live, int key)
{
	struct watcher *watcher = (struct watcher *)live;

	switch (key) {
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
