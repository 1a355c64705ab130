// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "dualpi2.h"

#define NANO 1000000000ULL

typedef unsigned __int128 wide;

const struct unit time_units[] = {
	{ "s", DUALPI2_NSEC_PER_SEC },
	{ "ms", DUALPI2_NSEC_PER_MSEC },
	{ "us", DUALPI2_NSEC_PER_USEC },
	{ "", DUALPI2_NSEC_PER_USEC },
	{ "sec", DUALPI2_NSEC_PER_SEC },
	{ "secs", DUALPI2_NSEC_PER_SEC },
	{ "msec", DUALPI2_NSEC_PER_MSEC },
	{ "msecs", DUALPI2_NSEC_PER_MSEC },
	{ "usec", DUALPI2_NSEC_PER_USEC },
	{ "usecs", DUALPI2_NSEC_PER_USEC },
	{ NULL, 0 },
};

const struct unit rate_units[] = {
	{ "tbit", 1000000000000 },
	{ "gbit", 1000000000 },
	{ "mbit", 1000000 },
	{ "kbit", 1000 },
	{ "bit", 1 },
	{ "", 1 },
	{ "kibit", 1ULL << 10 },
	{ "mibit", 1ULL << 20 },
	{ "gibit", 1ULL << 30 },
	{ "tibit", 1ULL << 40 },
	{ "bps", 8 },
	{ "kbps", 8000 },
	{ "mbps", 8000000 },
	{ "gbps", 8000000000 },
	{ "tbps", 8000000000000 },
	{ "kibps", 8ULL << 10 },
	{ "mibps", 8ULL << 20 },
	{ "gibps", 8ULL << 30 },
	{ "tibps", 8ULL << 40 },
	{ NULL, 0 },
};

/* ---- to read -------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The digits at *text, which moves on behind them; UINT64_MAX if they are too many. */
static uint64_t read_whole(const char **text)
{
	wide whole = 0;

	for (; is_digit(**text); (*text)++) {
		if (whole < UINT64_MAX)
			whole = whole * 10 + (wide)(**text - '0');
	}
	return whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

/* The digits behind a decimal point, in 1/NANO. */
static uint32_t read_fraction(const char **text)
{
	uint32_t worth = NANO / 10, nano = 0;

	for (; is_digit(**text); (*text)++, worth /= 10)
		nano += worth * (uint32_t)(**text - '0');
	return nano;
}

bool number_read(const char *text, const struct unit *units, uint32_t divisor, uint64_t *value)
{
	uint32_t nano = 0;
	wide whole, rest;

	if (!is_digit(text[0]) && !(text[0] == '.' && is_digit(text[1])))
		return false;
	whole = read_whole(&text);
	if (*text == '.') {
		text++;
		nano = read_fraction(&text);
	}
	while (units->suffix && strcasecmp(units->suffix, text))
		units++;
	if (!units->suffix)
		return false;
	whole *= units->worth;
	rest = whole % divisor * NANO + (wide)nano * units->worth;
	whole = whole / divisor + rest / divisor / NANO;
	*value = whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
	return true;
}

/* ---- to write ------------------------------------------------------------------- */

/* The largest unit that is not larger than the value; the smallest one if all are. The table
 * begins with those that are written, from large to small.
 */
static const struct unit *best_unit(const struct unit *units, double value)
{
	const struct unit *best = units;

	for (; units->suffix && value < (double)best->worth; units++) {
		if (units->worth < best->worth)
			best = units;
	}
	return best;
}

/* Whole and exact in the unit that fits best. */
static const char *format_exact(uint64_t value, const struct unit *units, char *text)
{
	const struct unit *unit = best_unit(units, (double)value);

	snprintf(text, FORMAT_MAX, "%.15g%s", (double)value / (double)unit->worth, unit->suffix);
	return text;
}

const char *format_rate(uint64_t bytes_per_s, char *text)
{
	return format_exact(bytes_per_s * 8, rate_units, text);
}

const char *format_time(uint64_t ns, char *text)
{
	return format_exact(ns, time_units, text);
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

const char *format_class(uint32_t classid, char *text)
{
	snprintf(text, FORMAT_MAX, "%x:%x", classid >> 16, classid & 0xffff);
	return text;
}

const char *format_count(double count, char *text)
{
	static const struct unit units[] = {
		{ "T", 1000000000000 }, { "G", 1000000000 }, { "M", 1000000 },
		{ "k", 1000 },		{ NULL, 0 },
	};

	if (count >= 99999.5)
		return format_measured(count, units, text);
	snprintf(text, FORMAT_MAX, "%.0f", count);
	return text;
}

const char *format_share(double part, double whole, char *text)
{
	const double percent = whole > 0 ? 100 * part / whole : 0;

	if (whole <= 0)
		snprintf(text, FORMAT_MAX, "-");
	else
		snprintf(text, FORMAT_MAX, "%.*f %%", percent > 0 && percent < 10 ? 2 : 1, percent);
	return text;
}

const char *format_line(const char *text, size_t width, int *length)
{
	size_t end = strlen(text);

	if (width && end > width) {
		end = width;
		while (end && text[end] != ' ')
			end--;
		end = end ?: strcspn(text, " ");
	}
	*length = (int)end;
	return text + end + strspn(text + end, " ");
}

const char *format_queues(uint32_t first, size_t count, const char *kind, const char *wanted,
			  char *text)
{
	char class[FORMAT_MAX], others[40] = "";

	if (count > 1)
		snprintf(others, sizeof(others), " (and %zu more)", count - 1);
	snprintf(text, QUEUES_TEXT_MAX, "queue %s%s has %s in place of %s, so what comes to it %s",
		 format_class(first, class), others, kind[0] ? kind : "nothing", wanted,
		 kind[0] ? "bypasses the AQM and the rate" : "is lost");
	return text;
}
