// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/stat.h"

#include <string.h>

#define QUEUE_COUNTER(...) STAT_ROW(struct dualpi2_queue, counters., true, __VA_ARGS__)
#define QUEUE_GAUGE(...) STAT_ROW(struct dualpi2_queue, , false, __VA_ARGS__)
#define COUNTER(...) STAT_ROW(struct dualpi2_stats, , true, __VA_ARGS__)
#define GAUGE(...) STAT_ROW(struct dualpi2_stats, , false, __VA_ARGS__)

const struct stat_row queue_rows[] = {
	DUALPI2_QUEUE_COUNTERS(QUEUE_COUNTER) DUALPI2_QUEUE_GAUGES(QUEUE_GAUGE){},
};

const struct stat_row qdisc_rows[] = {
	DUALPI2_GAUGES(GAUGE) DUALPI2_COUNTERS(COUNTER){},
};

bool stat_is_time(const struct stat_row *row)
{
	return !strcmp(row->unit, "microseconds");
}

int64_t stat_value(const struct stat_row *row, const void *of)
{
	const char *member = (const char *)of + row->offset;
	uint64_t eight;
	uint32_t four;

	if (row->size == sizeof(four)) {
		memcpy(&four, member, sizeof(four));
		return row->is_signed ? (int32_t)four : (int64_t)four;
	}
	memcpy(&eight, member, sizeof(eight));
	return (int64_t)eight;
}

static void set(const struct stat_row *row, void *of, int64_t value)
{
	const uint64_t eight = (uint64_t)value;
	const uint32_t four = (uint32_t)value;

	memcpy((char *)of + row->offset, row->size == sizeof(four) ? (const void *)&four : &eight,
	       row->size);
}

void stat_add(const struct stat_row *rows, void *to, const void *more)
{
	for (; rows->member; rows++)
		set(rows, to, stat_value(rows, to) + stat_value(rows, more));
}

void stat_subtract(const struct stat_row *rows, void *from, const void *earlier)
{
	for (; rows->member; rows++) {
		const int64_t growth = stat_value(rows, from) - stat_value(rows, earlier);

		if (rows->is_counter)
			set(rows, from, growth > 0 ? growth : 0);
	}
}
