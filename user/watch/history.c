// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

void history_add(struct history *history, const struct samples *samples)
{
	if (history->count == HISTORY_INTERVALS + 1) {
		free(history->samples[0].items);
		memmove(history->samples, history->samples + 1,
			HISTORY_INTERVALS * sizeof(history->samples[0]));
		history->count--;
	}
	history->samples[history->count++] = *samples;
}

const struct samples *history_newest(const struct history *history)
{
	return &history->samples[history->count - 1];
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		free(history->samples[i].items);
	history->count = 0;
}

static void fill_series(struct view *view, size_t place, const struct sample *interval)
{
	const struct dualpi2_stats *stats = &interval->stats;

	view->series[SERIES_L_DELAY][place] = (double)histogram_quantile(&interval->delays.l, 990);
	view->series[SERIES_C_DELAY][place] = (double)histogram_quantile(&interval->delays.c, 990);
	view->series[SERIES_L_RATE][place] = interval_speed(interval, stats->l.counters.bytes_out);
	view->series[SERIES_C_RATE][place] = interval_speed(interval, stats->c.counters.bytes_out);
	view->series[SERIES_PROBABILITY][place] = sample_probability(stats->levels.prob);
}

/* The first of the samples that are, without a gap, of the qdisc that is there now. */
static size_t first_of(const struct history *history, const struct sample *now)
{
	size_t first = history->count - 1;
	struct sample interval;

	while (first > 0) {
		const struct sample *before = interval_find(&history->samples[first - 1], now);

		if (!before || !interval_between(before, now, &interval))
			break;
		first--;
		now = before;
	}
	return first;
}

void history_view(const struct history *history, const struct sample *now, struct view *view)
{
	const size_t first = first_of(history, now);
	const struct sample *before = interval_find(&history->samples[first], now);

	*view = (struct view){ .now = now };
	view->interval = view->window = *now;
	interval_between(before, now, &view->window);
	for (size_t i = first + 1; i < history->count; i++) {
		const struct sample *sample = interval_find(&history->samples[i], now);

		interval_between(before, sample, &view->interval);
		fill_series(view, view->count++, &view->interval);
		before = sample;
	}
}
