// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

static void extend(struct course *course, const struct figures *interval)
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

/* Take over the track of a qdisc that was there before, or begin one. NULL: there is no memory. */
static struct track *continue_track(struct history *history, struct sample *sample, size_t place)
{
	const struct sample *before = interval_find(&history->now, sample, place);
	struct track **old = before ? &history->tracks[before - history->now.items] : NULL;
	struct track *track;

	/* One that the kernel showed twice, as something changed, was taken over already. */
	if (!old || !*old || !interval_between(before, sample, &sample->recent))
		return calloc(1, sizeof(*track));
	track = *old;
	*old = NULL;
	track->began[track->next] = before->total;
	track->next = (track->next + 1) % WINDOW_INTERVALS;
	extend(&track->course, &sample->recent);
	return track;
}

static void free_tracks(struct track **tracks, size_t count)
{
	for (size_t i = 0; tracks && i < count; i++)
		free(tracks[i]);
	free(tracks);
}

void history_free(struct history *history)
{
	free_tracks(history->tracks, history->now.count);
	free(history->now.items);
}

bool history_add(struct history *history, const struct samples *samples)
{
	struct history later = { *samples, calloc(samples->count + 1, sizeof(*later.tracks)) };
	bool continued = later.tracks;

	for (size_t i = 0; continued && i < samples->count; i++) {
		later.tracks[i] = continue_track(history, &samples->items[i], i);
		continued = later.tracks[i];
	}
	history_free(history);
	*history = later;
	return continued || fail(ENOMEM, "no room for the figures");
}

void history_restart(struct history *history)
{
	for (size_t i = 0; i < history->now.count; i++)
		history->tracks[i]->course.count = 0;
}

void history_view(const struct history *history, size_t item, struct view *view)
{
	const struct sample *now = &history->now.items[item];
	const struct track *track = history->tracks[item];
	const size_t known = track->course.count;
	const size_t intervals = known < WINDOW_INTERVALS ? known : WINDOW_INTERVALS;
	const size_t first = (track->next + WINDOW_INTERVALS - intervals) % WINDOW_INTERVALS;

	view->now = now;
	view->course = &track->course;
	if (known)
		interval_subtract(now->aqm, &track->began[first], &now->total, &view->window);
}
