// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include "watch/help.h"
#include "watch/history.h"
#include "watch/keys.h"
#include "watch/live.h"
#include "watch/screen.h"

/* The selected qdisc stays so, wherever it is in the new list. */
static bool take_sample(struct live *live)
{
	struct watcher *watcher = (struct watcher *)live;
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

static void restart(struct live *live)
{
	history_restart(&((struct watcher *)live)->history);
}

static const struct live_view qdiscs = {
	.take = take_sample,
	.restart = restart,
	.draw = screen_draw,
	.draw_help = help_draw,
	.press = key_pressed,
};

/* That there is nothing to begin with is a failure. */
static bool begin(struct watcher *watcher, uint64_t interval_ns)
{
	const size_t count = watcher->history.now.count;

	watcher->shows_list = count > 1;
	return count ? live_show(&watcher->live, interval_ns)
		     : sampler_has_nothing(watcher->sampler);
}

bool watch(struct sampler *sampler, uint64_t interval_ns)
{
	struct watcher watcher = { .live.view = &qdiscs, .sampler = sampler };
	bool watched;

	if (!live_has_terminal("use --jsonl or --interval"))
		return false;
	watched = take_sample(&watcher.live) && begin(&watcher, interval_ns);
	history_free(&watcher.history);
	return watched;
}
