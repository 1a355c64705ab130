// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/format.h"

#include <stdio.h>
#include <string.h>

#include "dualpi2.h"

struct unit {
	uint64_t worth;
	const char *suffix;
};

/* value / unit->worth with as many decimals as it takes, up to `decimals`. */
static const char *format_unit(uint64_t value, const struct unit *unit, int decimals, char *text)
{
	char number[FORMAT_MAX];
	char *end;

	snprintf(number, sizeof(number), "%.*f", decimals, (double)value / (double)unit->worth);
	if (strchr(number, '.')) {
		end = number + strlen(number);
		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			*--end = '\0';
	}
	snprintf(text, FORMAT_MAX, "%.20s%s", number, unit->suffix);
	return text;
}

/* The first unit that is not larger than the value; the last one if all are. */
static const struct unit *best_unit(const struct unit *units, double value)
{
	while (units[1].suffix && value < (double)units->worth)
		units++;
	return units;
}

static const struct unit rate_units[] = {
	{ 1000000000000, "tbit" }, { 1000000000, "gbit" }, { 1000000, "mbit" },
	{ 1000, "kbit" },	   { 1, "bit" },	   { 0, NULL },
};

const char *format_rate(uint64_t bytes_per_s, char *text)
{
	uint64_t bits = bytes_per_s * 8;

	return format_unit(bits, best_unit(rate_units, (double)bits), 9, text);
}

static const struct unit time_units[] = {
	{ DUALPI2_NSEC_PER_SEC, "s" },
	{ DUALPI2_NSEC_PER_MSEC, "ms" },
	{ DUALPI2_NSEC_PER_USEC, "us" },
	{ 0, NULL },
};

const char *format_time(uint64_t ns, char *text)
{
	return format_unit(ns, best_unit(time_units, (double)ns), 9, text);
}

/* A value to three digits, in the unit that is best for them: 999.6 is one of the next unit. */
static const char *format_measured(double value, const struct unit *units, char *text)
{
	const struct unit *unit = best_unit(units, value / 0.9995);
	const double number = value / (double)unit->worth;
	int decimals = 0;

	if (number < 99.95)
		decimals = number < 9.995 ? 2 : 1;
	snprintf(text, FORMAT_MAX, "%.*f%s", decimals, number, unit->suffix);
	return text;
}

const char *format_delay(double ns, char *text)
{
	return ns > 0 ? format_measured(ns, time_units, text) : format_time(0, text);
}

const char *format_speed(double bits_per_s, char *text)
{
	if (bits_per_s >= 999.5)
		return format_measured(bits_per_s, rate_units, text);
	snprintf(text, FORMAT_MAX, "%.0fbit", bits_per_s);
	return text;
}

const char *format_gain(uint32_t hz256, char *text)
{
	snprintf(text, FORMAT_MAX, "%.6f", hz256 / 256.0);
	return text;
}

const char *format_class(uint32_t classid, char *text)
{
	snprintf(text, FORMAT_MAX, "%x:%x", classid >> 16, classid & 0xffff);
	return text;
}

const char *format_count(double count, char *text)
{
	static const struct unit units[] = {
		{ 1000000000000, "T" }, { 1000000000, "G" }, { 1000000, "M" },
		{ 1000, "k" },		{ 0, NULL },
	};

	if (count >= 99999.5)
		return format_measured(count, units, text);
	snprintf(text, FORMAT_MAX, "%.0f", count);
	return text;
}

const char *format_share(uint64_t part, uint64_t whole, char *text)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(text, FORMAT_MAX, "-");
	else
		snprintf(text, FORMAT_MAX, "%.*f %%", percent > 0 && percent < 10 ? 2 : 1, percent);
	return text;
}
