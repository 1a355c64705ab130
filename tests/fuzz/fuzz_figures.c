// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is printed of the pinned maps, whatever is in them: the input is laid (xor) over the
 * statistics of a fresh qdisc. In JSON, as a table, a plot, metrics, as tc prints, and what
 * happened since the fresh one: as a table, a plot, a line of JSON and on a screen.
 */
#include "fuzz.h"

#include <curses.h>
#include <linux/pkt_sched.h>
#include <stdio.h>

#include "sample/sample.h"
#include "show/show.h"
#include "watch/screen.h"

/* What comes out of maps and of the kernel. */
struct content {
	struct dualpi2_key key;
	struct dualpi2_stats stats;
	struct dualpi2_delays delays;
	struct qdisc_counters counters;
	uint64_t taken_ns;
	uint32_t refcnt;
	uint8_t is_sum, tcx_attached; /* 0: unknown */
};

static const struct content fresh = {
	.key = { .ifindex = 1, .parent = TC_H_ROOT },
	.stats = { .ifname = "eth0", .params = DUALPI2_DEFAULT_PARAMS },
	.taken_ns = 1,
	.refcnt = 1,
};

static void fill(struct sample *sample, const struct content *content)
{
	*sample = (struct sample){
		.aqm = aqm_default(),
		.key = content->key,
		.total.stats = content->stats,
		.total.delays = content->delays,
		.total.taken_ns = content->taken_ns,
		.counters = content->counters,
		.refcnt = content->refcnt,
		.is_sum = content->is_sum & 1,
		.tcx_attached = content->tcx_attached % 3 - 1,
	};
	sample_ifname(0, content->stats.ifname, sample->ifname);
}

static void print_interval(const struct samples *earlier, struct samples *later)
{
	interval_since(earlier, later);
	histogram_print(later, SHOWN_RECENT);
	table_print(later, SHOWN_RECENT);
	table_print(later, SHOWN_TOTAL);
	json_print_lines(stdout, later, JSON_BINS);
}

static void add(struct history *history, const struct samples *samples)
{
	struct samples copy = { calloc(samples->count, sizeof(*copy.items)), samples->count };

	ALWAYS(copy.items);
	memcpy(copy.items, samples->items, samples->count * sizeof(*copy.items));
	ALWAYS(history_add(history, &copy));
}

static void draw_screens(const struct samples *earlier, const struct samples *later)
{
	static const struct live_view view = { .draw = screen_draw };
	struct watcher watcher = {
		.live = { .view = &view, .pace.interval_ns = DUALPI2_NSEC_PER_SEC },
	};

	add(&watcher.history, earlier);
	add(&watcher.history, later);
	live_draw(&watcher.live);
	watcher.shows_list = true;
	live_draw(&watcher.live);
	history_free(&watcher.history);
}

/* What is drawn goes the way of all that is printed (-close_fd_mask). */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("TERM", "vt100", true);
	ALWAYS(initscr() && LINES >= LIVE_LINES && COLS >= LIVE_COLUMNS);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sample items[2];
	struct samples list = { .items = items, .count = 2 };
	const struct samples earlier = { .items = &items[1], .count = 1 };
	struct content content = fresh;
	uint8_t *bytes = (uint8_t *)&content;

	fill(&items[1], &fresh);
	for (size_t i = 0; i < size && i < sizeof(content); i++)
		bytes[i] ^= data[i];
	fill(&items[0], &content);
	json_print(&list, JSON_BINS);
	table_print(&list, SHOWN_TOTAL);
	tc_print(&list);
	histogram_print(&list, SHOWN_TOTAL);
	openmetrics_print(&list, NULL, EXPOSITION_OPENMETRICS);
	print_interval(&earlier, &list);
	draw_screens(&earlier, &list);
	return 0;
}
