// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "format.h"

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
static const struct unit *best_unit(const struct unit *units, uint64_t value)
{
	while (units[1].suffix && value < units->worth)
		units++;
	return units;
}

static const struct unit rate_units[] = {
	{ 1000000000, "gbit" }, { 1000000, "mbit" }, { 1000, "kbit" }, { 1, "bit" }, { 0, NULL },
};

const char *format_rate(uint64_t bytes_per_s, char *text)
{
	uint64_t bits = bytes_per_s * 8;

	return format_unit(bits, best_unit(rate_units, bits), 9, text);
}

static const struct unit time_units[] = {
	{ DUALPI2_NSEC_PER_SEC, "s" },
	{ DUALPI2_NSEC_PER_MSEC, "ms" },
	{ DUALPI2_NSEC_PER_USEC, "us" },
	{ 0, NULL },
};

const char *format_time(uint64_t ns, char *text)
{
	return format_unit(ns, best_unit(time_units, ns), 9, text);
}

/* A value to three digits. */
static const char *format_measured(uint64_t value, const struct unit *unit, char *text)
{
	double number = (double)value / (double)unit->worth;

	int decimals = 0;

	if (number < 100)
		decimals = number < 10 ? 2 : 1;
	snprintf(text, FORMAT_MAX, "%.*f%s", decimals, number, unit->suffix);
	return text;
}

const char *format_delay(uint64_t ns, char *text)
{
	if (!ns)
		return format_time(0, text);
	return format_measured(ns, best_unit(time_units, ns), text);
}

const char *format_speed(double bits_per_s, char *text)
{
	uint64_t bits = (uint64_t)(bits_per_s + 0.5);

	if (bits < 1000)
		return format_unit(bits, &rate_units[3], 0, text);
	return format_measured(bits, best_unit(rate_units, bits), text);
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

const char *format_count(uint64_t count, char *text)
{
	static const struct unit units[] = {
		{ 1000000000000, "T" }, { 1000000000, "G" }, { 1000000, "M" },
		{ 1000, "k" },		{ 0, NULL },
	};

	if (count >= 100000)
		return format_measured(count, best_unit(units, count), text);
	snprintf(text, FORMAT_MAX, "%llu", (unsigned long long)count);
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
