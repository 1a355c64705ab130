// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/stat.h"

#include <string.h>

#include "aqm/member.h"
#include "cli/format.h"

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
	const uint64_t value = member_get(of, row->offset, row->size);

	return row->is_signed ? (int32_t)value : (int64_t)value;
}

const char *stat_text(const struct stat_row *row, const void *of, char *text)
{
	const double value = (double)stat_value(row, of);

	return stat_is_time(row) ? format_delay(value, text) : format_count(value, text);
}

void stat_add(const struct stat_row *rows, void *to, const void *more)
{
	for (; rows->member; rows++)
		member_set(to, rows->offset, rows->size,
			   (uint64_t)(stat_value(rows, to) + stat_value(rows, more)));
}

void stat_subtract(const struct stat_row *rows, void *from, const void *earlier)
{
	for (; rows->member; rows++) {
		const int64_t growth = stat_value(rows, from) - stat_value(rows, earlier);

		if (rows->is_counter)
			member_set(from, rows->offset, rows->size,
				   growth > 0 ? (uint64_t)growth : 0);
	}
}
