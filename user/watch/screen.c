// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/screen.h"

#include <curses.h>
#include <stdio.h>

#include "aqm/params.h"
#include "cli/format.h"
#include "show/show.h"
#include "watch/figures.h"
#include "watch/history.h"
#include "watch/list.h"
#include "watch/plots.h"
#include "watch/put.h"

static void put_head(const struct sample *now)
{
	char params[OPTION_TEXT_MAX], name[PLACE_MAX], head[sizeof(params) + PLACE_MAX + 64];

	snprintf(head, sizeof(head), "%s: %s%s", sample_place(now, name), now->aqm->kind,
		 params_describe(params_none, true, now->aqm, &now->total.stats.params, params,
				 sizeof(params)));
	attron(A_BOLD);
	put_text(0, 0, head);
	attroff(A_BOLD);
}

/* One qdisc, in full. */
static void draw_one(const struct watcher *watcher)
{
	const bool is_alone = watcher->history.now.count == 1;
	struct view view;

	history_view(&watcher->history, watcher->selected, &view);
	put_head(view.now);
	put_words(1, FIGURES_LINE - 1, &view);
	if (view.course->count)
		plots_draw(figures_draw(&view), view.course, watcher->live.pace.interval_ns);
	live_put_foot(&watcher->live,
		      is_alone ? "q quit   ? help" : "q quit   ? help   Esc all interfaces");
}

static void draw_nothing(const struct watcher *watcher)
{
	char text[128], name[NAME_SHOWN_MAX];

	snprintf(text, sizeof(text), "%s: no %s qdisc now; waiting for one",
		 sample_name(watcher->sampler->ifname ?: "here", name), aqm_default()->kind);
	put_text(0, 0, text);
	live_put_foot(&watcher->live, "q quit   ? help");
}

void screen_draw(const struct live *live)
{
	const struct watcher *watcher = (const struct watcher *)live;
	const size_t count = watcher->history.now.count;

	if (!count) {
		draw_nothing(watcher);
	} else if (watcher->shows_list && count > 1) {
		list_draw(watcher);
		live_put_foot(live, "q quit   ? help   up, down, Enter: show one");
	} else {
		draw_one(watcher);
	}
}
