// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/parse.h"

#include <string.h>
#include <strings.h>

#define NANO 1000000000ULL

typedef unsigned __int128 wide;

/* A suffix and what one of it is worth: numerator / denominator result units. */
struct unit {
	const char *suffix;
	uint64_t numerator;
	uint32_t denominator;
};

static const struct unit rate_units[] = {
	{ "", 1, 8 },
	{ "bit", 1, 8 },
	{ "kbit", 1000, 8 },
	{ "mbit", 1000000, 8 },
	{ "gbit", 1000000000, 8 },
	{ "tbit", 1000000000000, 8 },
	{ "kibit", 1ULL << 10, 8 },
	{ "mibit", 1ULL << 20, 8 },
	{ "gibit", 1ULL << 30, 8 },
	{ "tibit", 1ULL << 40, 8 },
	{ "bps", 1, 1 },
	{ "kbps", 1000, 1 },
	{ "mbps", 1000000, 1 },
	{ "gbps", 1000000000, 1 },
	{ "tbps", 1000000000000, 1 },
	{ "kibps", 1ULL << 10, 1 },
	{ "mibps", 1ULL << 20, 1 },
	{ "gibps", 1ULL << 30, 1 },
	{ "tibps", 1ULL << 40, 1 },
	{ NULL, 0, 0 },
};

static const struct unit time_units[] = {
	{ "", 1000, 1 },      { "us", 1000, 1 },      { "usec", 1000, 1 },     { "usecs", 1000, 1 },
	{ "ms", 1000000, 1 }, { "msec", 1000000, 1 }, { "msecs", 1000000, 1 }, { "s", NANO, 1 },
	{ "sec", NANO, 1 },   { "secs", NANO, 1 },    { NULL, 0, 0 },
};

static const struct unit size_units[] = {
	{ "", 1, 1 },		{ "b", 1, 1 },		{ "k", 1 << 10, 1 },
	{ "kb", 1 << 10, 1 },	{ "m", 1 << 20, 1 },	{ "mb", 1 << 20, 1 },
	{ "g", 1 << 30, 1 },	{ "gb", 1 << 30, 1 },	{ "kbit", 1 << 10, 8 },
	{ "mbit", 1 << 20, 8 }, { "gbit", 1 << 30, 8 }, { NULL, 0, 0 },
};

static const struct unit percent_units[] = { { "", 1, 1 }, { "%", 1, 1 }, { NULL, 0, 0 } };
static const struct unit share_units[] = {
	{ "", 1ULL << 32, 100 },
	{ "%", 1ULL << 32, 100 },
	{ NULL, 0, 0 },
};
static const struct unit count_units[] = { { "", 1, 1 }, { NULL, 0, 0 } };
/* Twice the steps, so that the caller can round. */
static const struct unit gain_units[] = { { "", 512, 1 }, { NULL, 0, 0 } };
static const struct unit packet_units[] = {
	{ "p", 1, 1 },	    { "pkt", 1, 1 },	 { "pkts", 1, 1 },
	{ "packet", 1, 1 }, { "packets", 1, 1 }, { NULL, 0, 0 },
};

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++) {
		if (!strcasecmp(units->suffix, suffix))
			return units;
	}
	return NULL;
}

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

/* (whole + nano / NANO) * unit, cut down to a whole number, UINT64_MAX at most. */
static uint64_t scale(uint64_t whole, uint32_t nano, const struct unit *unit)
{
	wide product = (wide)whole * unit->numerator;
	wide rest = product % unit->denominator * NANO + (wide)nano * unit->numerator;
	wide result = product / unit->denominator + rest / unit->denominator / NANO;

	return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

static bool parse_decimal(const char *text, const struct unit *units, uint64_t *value)
{
	const struct unit *unit;
	uint32_t nano = 0;
	uint64_t whole;

	if (!is_digit(text[0]) && !(text[0] == '.' && is_digit(text[1])))
		return false;
	whole = read_whole(&text);
	if (*text == '.') {
		text++;
		nano = read_fraction(&text);
	}
	unit = find_unit(units, text);
	if (!unit)
		return false;
	*value = scale(whole, nano, unit);
	return true;
}

static bool parse_whole(const char *text, const struct unit *units, uint64_t *value)
{
	return !strchr(text, '.') && parse_decimal(text, units, value);
}

bool parse_uint(const char *text, uint64_t *value)
{
	return parse_whole(text, count_units, value);
}

bool parse_int(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	uint64_t magnitude;

	if (!parse_uint(text + negative, &magnitude))
		return false;
	if (magnitude > INT64_MAX)
		magnitude = INT64_MAX;
	*value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

bool parse_rate(const char *text, uint64_t *bytes_per_s)
{
	if (!parse_decimal(text, rate_units, bytes_per_s))
		return false;
	if (!*bytes_per_s && strpbrk(text, "123456789"))
		*bytes_per_s = 1;
	return true;
}

bool parse_time(const char *text, uint64_t *ns)
{
	return parse_decimal(text, time_units, ns);
}

bool parse_size(const char *text, uint64_t *bytes)
{
	return parse_decimal(text, size_units, bytes);
}

bool parse_percent(const char *text, uint64_t *percent)
{
	return parse_whole(text, percent_units, percent);
}

bool parse_share(const char *text, uint64_t *share)
{
	return parse_decimal(text, share_units, share);
}

bool parse_gain(const char *text, uint64_t *hz256)
{
	uint64_t half_steps;

	if (!parse_decimal(text, gain_units, &half_steps))
		return false;
	*hz256 = half_steps / 2 + half_steps % 2;
	return true;
}

bool parse_packets(const char *text, uint64_t *packets)
{
	return parse_whole(text, packet_units, packets);
}

bool parse_step_thresh(const char *text, uint64_t *value, bool *in_packets)
{
	bool packets = parse_packets(text, value);

	if (!packets && !parse_time(text, value))
		return false;
	*in_packets = packets;
	return true;
}

struct dscp {
	const char *name;
	unsigned int value;
};

/* The first name of a value is the one that dscp_name() tells. */
static const struct dscp dscps[] = {
	{ "df", 0 },	{ "cs0", 0 },	{ "cs1", 8 },	{ "cs2", 16 },	       { "cs3", 24 },
	{ "cs4", 32 },	{ "cs5", 40 },	{ "cs6", 48 },	{ "cs7", 56 },	       { "af11", 10 },
	{ "af12", 12 }, { "af13", 14 }, { "af21", 18 }, { "af22", 20 },	       { "af23", 22 },
	{ "af31", 26 }, { "af32", 28 }, { "af33", 30 }, { "af41", 34 },	       { "af42", 36 },
	{ "af43", 38 }, { "le", 1 },	{ "va", 44 },	{ "voice-admit", 44 }, { "nqb", 45 },
	{ "ef", 46 },
};

#define N_DSCP_NAMES (sizeof(dscps) / sizeof(dscps[0]))
#define DSCP_MAX 63
#define DSCP_WORD_MAX 16 /* longer than every name, with the terminator */

const char *dscp_name(unsigned int dscp)
{
	for (size_t i = 0; i < N_DSCP_NAMES; i++) {
		if (dscps[i].value == dscp)
			return dscps[i].name;
	}
	return NULL;
}

static bool parse_dscp(const char *word, uint64_t *dscp)
{
	for (size_t i = 0; i < N_DSCP_NAMES; i++) {
		if (!strcasecmp(dscps[i].name, word)) {
			*dscp = dscps[i].value;
			return true;
		}
	}
	return parse_uint(word, dscp) && *dscp <= DSCP_MAX;
}

bool parse_dscps(const char *text, uint64_t *set)
{
	char word[DSCP_WORD_MAX];
	uint64_t found = 0, dscp;
	size_t len;

	if (!strcasecmp(text, "none")) {
		*set = 0;
		return true;
	}
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (len >= sizeof(word))
			return false;
		memcpy(word, text, len);
		word[len] = '\0';
		if (!parse_dscp(word, &dscp))
			return false;
		found |= 1ULL << dscp;
		if (!text[len])
			break;
	}
	*set = found;
	return true;
}
