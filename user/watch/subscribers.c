// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <curses.h>
#include <errno.h>
#include <stdlib.h>

#include "cli/message.h"
#include "show/subscribers.h"
#include "watch/help.h"
#include "watch/subscriber_list.h"
#include "watch/watch.h"

static struct subscriber_watcher *watcher_of(struct live *live)
{
	return (struct subscriber_watcher *)live;
}

/* ---- samples ------------------------------------------------------------------------- */

static void sort(struct subscriber_watcher *watcher)
{
	const struct crowd *crowd = &watcher->crowds.of[watcher->shown];

	watcher->count =
		watcher->crowds.count ? crowd_sort(crowd, watcher->order, watcher->sorted) : 0;
}

static void release(struct subscriber_watcher *watcher)
{
	crowds_free(&watcher->crowds);
	free(watcher->now.items);
	free(watcher->sorted);
}

/* Of the same qdisc; NULL: it was not there. */
static const struct crowd *find(const struct crowds *crowds, const struct sample *sample)
{
	for (size_t i = 0; i < crowds->count; i++) {
		const struct sample *of = crowds->of[i].sample;

		if (of->identity == sample->identity && of->key.ifindex == sample->key.ifindex &&
		    of->key.parent == sample->key.parent)
			return &crowds->of[i];
	}
	return NULL;
}

/* What all have used since the sample before, and room for those of any. */
static bool prepare(struct subscriber_watcher *later, const struct subscriber_watcher *earlier)
{
	size_t most = 0;

	for (size_t i = 0; i < later->crowds.count; i++) {
		struct crowd *crowd = &later->crowds.of[i];
		const struct crowd *before = find(&earlier->crowds, crowd->sample);

		if (before && !crowd_since(crowd, before))
			return false;
		if (before && before == &earlier->crowds.of[earlier->shown])
			later->shown = i;
		most = crowd->list.count > most ? crowd->list.count : most;
	}
	later->sorted = calloc(most + 1, sizeof(*later->sorted)); /* and crowd_nobody */
	return later->sorted || fail(ENOMEM, "no memory for subscribers");
}

/* The one that is shown stays so, wherever it is now. */
static bool take_sample(struct live *live)
{
	struct subscriber_watcher *watcher = watcher_of(live), later = *watcher;
	bool taken;

	later.crowds = (struct crowds){};
	later.sorted = NULL;
	later.shown = 0;
	if (!sampler_take(watcher->sampler, &later.now))
		return false;
	taken = crowds_read(&watcher->sampler->regs, &later.now, false, &later.crowds) &&
		prepare(&later, watcher);
	if (!taken) {
		release(&later);
		return false;
	}
	release(watcher);
	*watcher = later;
	sort(watcher);
	return true;
}

/* ---- keys ---------------------------------------------------------------------------- */

static void sort_by(struct subscriber_watcher *watcher, enum crowd_order order)
{
	watcher->order = order;
	watcher->first = 0;
	sort(watcher);
}

static void show_crowd(struct subscriber_watcher *watcher, size_t shown)
{
	watcher->shown = shown;
	watcher->first = 0;
	sort(watcher);
}

/* So many lines down, or up. */
static void go_down(struct subscriber_watcher *watcher, long lines)
{
	const long last = (long)watcher->count - (long)subscriber_list_lines();
	const long first = (long)watcher->first + lines;

	watcher->first = first < 0 || last < 0 ? 0 : (size_t)(first < last ? first : last);
}

static void press(struct live *live, int key)
{
	struct subscriber_watcher *watcher = watcher_of(live);

	for (int order = 0; order < N_CROWD_ORDERS; order++) {
		if (key == subscriber_orders[order].key)
			sort_by(watcher, order);
	}
	switch (key) {
	case KEY_UP:
	case 'k':
		go_down(watcher, -1);
		break;
	case KEY_DOWN:
	case 'j':
		go_down(watcher, 1);
		break;
	case KEY_PPAGE:
		go_down(watcher, -(long)subscriber_list_lines());
		break;
	case KEY_NPAGE:
		go_down(watcher, (long)subscriber_list_lines());
		break;
	case KEY_HOME:
		go_down(watcher, -(long)watcher->first);
		break;
	case KEY_END:
		go_down(watcher, (long)watcher->count);
		break;
	case KEY_LEFT:
		if (watcher->shown)
			show_crowd(watcher, watcher->shown - 1);
		break;
	case KEY_RIGHT:
		if (watcher->shown + 1 < watcher->crowds.count)
			show_crowd(watcher, watcher->shown + 1);
		break;
	default:
		break;
	}
}

/* ---- all ----------------------------------------------------------------------------- */

static const struct live_view subscribers = {
	.take = take_sample,
	.draw = subscriber_list_draw,
	.draw_help = subscriber_list_draw_help,
	.press = press,
};

bool watch_subscribers(struct sampler *sampler, uint64_t interval_ns)
{
	struct subscriber_watcher watcher = { .live.view = &subscribers, .sampler = sampler };
	bool watched;

	if (!live_has_terminal("without --watch they are listed once"))
		return false;
	watched = take_sample(&watcher.live);
	if (watched && !watcher.now.count)
		watched = sampler_has_nothing(sampler);
	else if (watched)
		watched = watcher.crowds.count ? live_show(&watcher.live, interval_ns)
					       : subscribers_have_none();
	release(&watcher);
	return watched;
}
