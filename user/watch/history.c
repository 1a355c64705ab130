// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "show/show.h"

const struct samples *history_newest(const struct history *history)
{
	return &history->samples[history->count - 1];
}

/* ---- courses ------------------------------------------------------------------------- */

static void extend(struct course *course, const struct sample *interval)
{
	const struct dualpi2_stats *stats = &interval->stats;
	const double values[N_SERIES] = {
		[SERIES_L_DELAY] = (double)histogram_quantile(&interval->delays.l, 990),
		[SERIES_C_DELAY] = (double)histogram_quantile(&interval->delays.c, 990),
		[SERIES_L_RATE] = interval_speed(interval, stats->l.counters.bytes_out),
		[SERIES_C_RATE] = interval_speed(interval, stats->c.counters.bytes_out),
		[SERIES_PROBABILITY] = sample_probability(stats->levels.prob),
	};
	const bool is_full = course->count == COURSE_INTERVALS;

	for (int i = 0; i < N_SERIES; i++) {
		double *series = course->series[i];

		if (is_full)
			memmove(series, series + 1, (COURSE_INTERVALS - 1) * sizeof(*series));
		series[course->count - is_full] = values[i];
	}
	course->count += !is_full;
}

/* Those of the qdiscs of `samples`: longer by an interval, or new. NULL: there is no memory. */
static struct course *continue_courses(const struct history *history, const struct samples *samples)
{
	struct course *courses = calloc(samples->count + 1, sizeof(*courses));
	const struct samples *earlier = history->count ? history_newest(history) : NULL;

	for (size_t i = 0; courses && earlier && i < samples->count; i++) {
		const struct sample *before = interval_find(earlier, &samples->items[i]);
		struct sample interval;

		if (!before || !interval_between(before, &samples->items[i], &interval))
			continue;
		courses[i] = history->courses[before - earlier->items];
		extend(&courses[i], &interval);
	}
	return courses;
}

/* ---- samples ------------------------------------------------------------------------- */

static void forget_oldest(struct history *history)
{
	free(history->samples[0].items);
	history->count--;
	memmove(history->samples, history->samples + 1,
		history->count * sizeof(history->samples[0]));
}

bool history_add(struct history *history, const struct samples *samples)
{
	struct course *courses = continue_courses(history, samples);

	if (!courses) {
		free(samples->items);
		return fail(ENOMEM, "no room for the figures");
	}
	free(history->courses);
	history->courses = courses;
	if (history->count == WINDOW_INTERVALS + 1)
		forget_oldest(history);
	history->samples[history->count++] = *samples;
	return true;
}

void history_restart(struct history *history)
{
	while (history->count > 1)
		forget_oldest(history);
	for (size_t i = 0; i < history_newest(history)->count; i++)
		history->courses[i].count = 0;
}

void history_free(struct history *history)
{
	while (history->count)
		forget_oldest(history);
	free(history->courses);
}

/* ---- what they say of a qdisc ---------------------------------------------------------- */

/* What happened to it in the last `intervals`, which are without a gap. */
static void sum_up(const struct history *history, const struct sample *now, size_t intervals,
		   struct sample *sum)
{
	const struct samples *earlier = history_newest(history) - intervals;

	interval_between(interval_find(earlier, now), now, sum);
}

void history_view(const struct history *history, size_t item, struct view *view)
{
	const struct course *course = &history->courses[item];
	const size_t known = history->count - 1;

	view->now = &history_newest(history)->items[item];
	view->course = course;
	if (!course->count)
		return;
	sum_up(history, view->now, 1, &view->interval);
	sum_up(history, view->now, course->count < known ? course->count : known, &view->window);
}
