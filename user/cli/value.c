// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>

#include "cli/dscp.h"
#include "cli/format.h"
#include "cli/peer.h"
#include "cli/prefix.h"
#include "coupling.h"
#include "dualpi2.h"

#define ONE (1ULL << 32) /* a share of 100 % */
#define AUTO "auto"	 /* a share that follows from other parameters */

static const struct unit count_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit packet_units[] = {
	{ "p", 1 }, { "pkt", 1 }, { "pkts", 1 }, { "packet", 1 }, { "packets", 1 }, { NULL, 0 },
};
static const struct unit percent_units[] = { { "", 1 }, { "%", 1 }, { NULL, 0 } };
static const struct unit share_units[] = { { "", ONE }, { "%", ONE }, { NULL, 0 } };
static const struct unit gain_units[] = { { "", 512 }, { NULL, 0 } }; /* half steps */
/* k is 1024, as tc has it. */
static const struct unit size_units[] = {
	{ "", 1 },	    { "b", 1 },		 { "k", 1 << 10 },    { "kb", 1 << 10 },
	{ "m", 1 << 20 },   { "mb", 1 << 20 },	 { "g", 1 << 30 },    { "gb", 1 << 30 },
	{ "kbit", 1 << 7 }, { "mbit", 1 << 17 }, { "gbit", 1 << 27 }, { NULL, 0 },
};

/* ---- words --------------------------------------------------------------------- */

/* The word number `value`, and how long it is; 0: there is none. */
static size_t find_word(const char *words, uint64_t value, const char **word)
{
	for (*word = words; value; value--) {
		*word += strcspn(*word, "|");
		if (!**word)
			return 0;
		++*word;
	}
	return strcspn(*word, "|");
}

static const char *format_word(const char *words, uint64_t value, char *text)
{
	const char *word;
	size_t length = find_word(words, value, &word);

	if (!length)
		return strcpy(text, "unknown");
	snprintf(text, OPTION_TEXT_MAX, "%.*s", (int)length, word);
	return text;
}

static bool read_word(const char *words, const char *text, uint64_t *value)
{
	const char *word;
	size_t length;

	for (*value = 0; (length = find_word(words, *value, &word)); ++*value) {
		if (strlen(text) == length && !strncmp(text, word, length))
			return true;
	}
	return false;
}

static const char *format_dscps(uint64_t set, char *text)
{
	return dscps_format(set, text, OPTION_TEXT_MAX);
}

/* ---- kinds --------------------------------------------------------------------- */

static const char *format_whole(uint64_t value, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%" PRId64, value);
	return text;
}

static const char *format_handle(uint64_t value, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%" PRIx64 ":", value);
	return text;
}

/* "8002:", or as tc also takes it "8002". */
static bool read_handle(const char *text, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	*value = strtoull(text, &end, 16);
	return !*end || !strcmp(end, ":");
}

static const char *format_gain(uint64_t value, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%.6f", (uint32_t)value / 256.0);
	return text;
}

static const char *format_step(uint64_t value, char *text)
{
	if (!(value & STEP_IN_PACKETS))
		return format_time(value, text);
	snprintf(text, OPTION_TEXT_MAX, "%" PRIu64 "p", value & ~STEP_IN_PACKETS);
	return text;
}

/* The framing is above the 16 bits of the overhead. */
static const char *format_overhead(uint64_t value, char *text)
{
	const uint64_t framing = value >> 16;

	if (framing == DUALPI2_FRAMING_RAW)
		strcpy(text, "none");
	else
		snprintf(text, OPTION_TEXT_MAX, "%d%s", (int16_t)value,
			 framing == DUALPI2_FRAMING_PTM ? " ptm" : "");
	return text;
}

static const char *format_rate_or_none(uint64_t value, char *text)
{
	return value ? format_rate(value, text) : strcpy(text, "unlimited");
}

static const char *format_probability(uint64_t value, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%.6g%%", 100.0 * (double)value / PROB_MAX);
	return text;
}

/* In whole seconds from one second on: native's limits have odd digits. */
static const char *format_limit(uint64_t ns, char *text)
{
	return format_time(ns < DUALPI2_NSEC_PER_SEC ? ns : ns - ns % DUALPI2_NSEC_PER_SEC, text);
}

#define LEAST_TIME DUALPI2_NSEC_PER_MSEC
#define LEAST_RATE (1000000 / 8) /* bytes/s */
#define BYTES_A_SECOND "bps"

struct kind {
	const char *argument, *what; /* value_argument(), value_what() */
	const char *example;
	const char *(*format)(uint64_t value, char *text);
	const char *unit;	  /* behind it, for people */
	const struct unit *units; /* as it is read: NUMBER * unit / divisor; NULL: no number */
	uint32_t divisor;
	bool is_whole;	  /* no decimals */
	const char *bare; /* the unit where none is given; NULL: there is but one */

	/* value_range(): the limits, if not by `format`; or what it always is. */
	const char *(*limit)(uint64_t value, char *text);
	const char *range;
	uint64_t meant; /* with less than this a unit was forgotten, if none is given */
};

#define WHOLE_NUMBER(argument_, example_, format_, unit_)                              \
	{ argument_, "a whole number", example_, format_, unit_, count_units, 1, true, \
	  NULL,	     format_whole,     NULL,	 0 }

static const struct kind kinds[N_KINDS] = {
	[KIND_FILE] = { "FILE", "a name", .unit = "", .range = "any" },
	[KIND_PREFIX] = { "PREFIX", "a prefix", .unit = "",
			  .range = "of IPv4 or IPv6, 0 to 32 or 128 bits" },
	[KIND_PEER] = { "PEER", "a peer", "host:443", .unit = "", .range = "port 1 to 65535" },
	[KIND_HANDLE] = { "HANDLE", "a handle", "8002:", format_handle, "", count_units,
			  .divisor = 1, .is_whole = true },
	[KIND_CHOICE] = { NULL, "one of them", .unit = "" },
	[KIND_TIME] = { "TIME", "a time", "15ms", format_time, "", time_units, .divisor = 1,
			.bare = "us", .meant = LEAST_TIME, .limit = format_limit },
	[KIND_GAIN] = { "HZ", "a gain in Hz", "0.16", format_gain, "", gain_units, .divisor = 1 },
	[KIND_NUMBER] = WHOLE_NUMBER("N", "1", format_whole, ""),
	[KIND_PACKETS] = WHOLE_NUMBER("PACKETS", "10000", format_whole, "p"),
	[KIND_QLEN] = WHOLE_NUMBER("PACKETS", "5", format_whole, ""),
	[KIND_BYTES] = WHOLE_NUMBER("BYTES", "64", format_whole, ""),
	[KIND_OVERHEAD] = WHOLE_NUMBER("BYTES", "44", format_overhead, ""),
	[KIND_SIZE] = { "BYTES", "a size", "30m", format_whole, "b", size_units, .divisor = 1 },
	[KIND_PERCENT] = { "PERCENT", "a whole percentage", "10", format_whole, "%", percent_units,
			   .divisor = 1, .is_whole = true },
	[KIND_SHARE] = { "PERCENT", "a percentage", "25%", format_probability, "", share_units,
			 .divisor = 100, .range = "0 to 100" },
	[KIND_RATE] = { "RATE", "a rate", "40mbit", format_rate_or_none, "", rate_units,
			.divisor = 8, .bare = "bit/s", .meant = LEAST_RATE },
	[KIND_STEP] = { "TIME|Np", "a time or a number of packets", "1ms or 5p", format_step, "",
			time_units, .divisor = 1, .bare = "us", .meant = LEAST_TIME,
			.limit = format_limit },
	[KIND_DSCPS] = { "LIST", "a list of DSCPs", "ef,nqb,40", format_dscps, .unit = "",
			 .range = "0 to 63, cs0 to cs7, af11 to af43, ef, va, le, nqb, df; "
				  "or none" },
};

bool value_is_taken(const struct option_spec *spec)
{
	return kinds[spec->kind].what;
}

const char *value_argument(const struct option_spec *spec)
{
	if (spec->argument)
		return spec->argument;
	return spec->kind == KIND_CHOICE ? spec->words : kinds[spec->kind].argument;
}

const char *value_what(const struct option_spec *spec)
{
	return kinds[spec->kind].what;
}

/* ---- to read ------------------------------------------------------------------- */

/* A share of which 0 is not in the range can be left to the programs: that is 0. */
static bool has_auto(const struct option_spec *spec)
{
	return spec->kind == KIND_SHARE && spec->min;
}

static bool read_number(enum value_kind kind, const char *text, uint64_t *value)
{
	const bool is_negative = kind == KIND_OVERHEAD && *text == '-';
	const bool has_point = strchr(text, '.');

	if (kind == KIND_STEP && !has_point && number_read(text, packet_units, 1, value)) {
		*value = MIN(*value, STEP_IN_PACKETS - 1) | STEP_IN_PACKETS;
		return true;
	}
	if ((has_point && kinds[kind].is_whole) ||
	    !number_read(text + is_negative, kinds[kind].units, kinds[kind].divisor, value))
		return false;
	switch (kind) {
	case KIND_GAIN: /* to the nearest step, so that what is shown reads back as the same */
		*value = *value / 2 + *value % 2;
		break;
	case KIND_OVERHEAD:
		*value = MIN(*value, INT64_MAX) * (is_negative ? -1ULL : 1);
		break;
	case KIND_RATE: /* only 0 stands for none */
		if (!*value && strpbrk(text, "123456789"))
			*value = 1;
		break;
	case KIND_SHARE: /* which would not fit 32 bits */
		if (*value == ONE)
			*value = PROB_MAX;
		break;
	case KIND_STEP:
		*value = MIN(*value, STEP_IN_PACKETS - 1);
		break;
	default:
		break;
	}
	return true;
}

/* A rate can be none where that is the default. */
static bool can_be_none(const struct option_spec *spec)
{
	return spec->kind == KIND_RATE && !spec->value;
}

static bool in_range(const struct option_spec *spec, uint64_t value)
{
	if (!kinds[spec->kind].units || (can_be_none(spec) && !value))
		return true;
	if (spec->kind == KIND_STEP && value & STEP_IN_PACKETS)
		return (value & ~STEP_IN_PACKETS) <= UINT32_MAX;
	/* modulo 2^64, so that a range may begin below 0 */
	return value - (uint64_t)spec->min <= (uint64_t)spec->max - (uint64_t)spec->min;
}

enum value_status value_read(const struct option_spec *spec, const char *text, uint64_t *value)
{
	uint64_t read = 0;
	bool is_read;

	if (has_auto(spec) && !strcmp(text, AUTO)) {
		*value = 0;
		return VALUE_OK;
	}
	if (spec->kind == KIND_FILE)
		is_read = *text;
	else if (spec->kind == KIND_PREFIX)
		is_read = prefix_read(text, &(struct ip_prefix){});
	else if (spec->kind == KIND_PEER)
		is_read = peer_split(text, (char[PEER_HOST_MAX]){ "" }, &(const char *){ NULL });
	else if (spec->kind == KIND_HANDLE)
		is_read = read_handle(text, &read);
	else if (spec->kind == KIND_CHOICE)
		is_read = read_word(spec->words, text, &read);
	else if (spec->kind == KIND_DSCPS)
		is_read = dscps_read(text, &read);
	else
		is_read = read_number(spec->kind, text, &read);
	if (!is_read)
		return VALUE_MALFORMED;
	if (!in_range(spec, read))
		return VALUE_OUT_OF_RANGE;
	*value = read;
	return VALUE_OK;
}

/* ---- to write ------------------------------------------------------------------ */

const char *value_format(const struct option_spec *spec, uint64_t value, char *text)
{
	if (spec->kind == KIND_CHOICE)
		return format_word(spec->words, value, text);
	if (has_auto(spec) && !value)
		return strcpy(text, AUTO);
	return kinds[spec->kind].format(value, text);
}

const char *value_show(const struct option_spec *spec, uint64_t value, char *text)
{
	value_format(spec, value, text);
	return strcat(text, kinds[spec->kind].unit);
}

static const char *choice_range(const char *words, char *text)
{
	char *end = text;

	for (; *words; words++)
		end = stpcpy(end, *words == '|' ? " or " : (const char[]){ *words, '\0' });
	return text;
}

const char *value_range(const struct option_spec *spec, char *text)
{
	const struct kind *kind = &kinds[spec->kind];
	const char *(*format)(uint64_t value, char *text) = kind->limit ?: kind->format;
	char min[OPTION_TEXT_MAX], max[OPTION_TEXT_MAX];

	if (spec->kind == KIND_CHOICE)
		return choice_range(spec->words, text);
	if (kind->range)
		return strcpy(text, has_auto(spec) ? "above 0 to 100, or auto" : kind->range);
	snprintf(text, OPTION_TEXT_MAX, "%s%.60s to %.60s%s", can_be_none(spec) ? "0, or " : "",
		 format(spec->min, min), format(spec->max, max),
		 spec->kind == KIND_STEP ? " or 0p to 4294967295p" : "");
	return text;
}

bool value_has_default(const struct option_spec *spec)
{
	return spec->size && value_is_taken(spec) &&
	       (has_auto(spec) || in_range(spec, spec->value));
}

const char *value_bare(const struct option_spec *spec, const char *given, char *text)
{
	const char *unit = kinds[spec->kind].bare;

	if (!unit || given[strspn(given, "0123456789.")] || !strpbrk(given, "123456789"))
		return NULL;
	snprintf(text, OPTION_TEXT_MAX, "%s%s", given, unit);
	return text;
}

/* Does it count bytes, which elsewhere are bits: "40mbps"? */
static bool is_in_bytes(const struct option_spec *spec, const char *given)
{
	const size_t length = strlen(given), suffix = strlen(BYTES_A_SECOND);

	return spec->kind == KIND_RATE && length > suffix &&
	       !strcasecmp(given + length - suffix, BYTES_A_SECOND);
}

const char *value_surprise(const struct option_spec *spec, const char *given, char *text)
{
	char shown[OPTION_TEXT_MAX];
	uint64_t value;

	if (value_read(spec, given, &value) != VALUE_OK)
		return NULL;
	if (is_in_bytes(spec, given))
		snprintf(text, OPTION_TEXT_MAX,
			 "%.60s: in tc's words bps, kbps, mbps are bytes; bits are bit, kbit, mbit",
			 value_format(spec, value, shown));
	else if (value < kinds[spec->kind].meant && value_bare(spec, given, shown))
		snprintf(text, OPTION_TEXT_MAX, "%.60s: give a unit if it should not be", shown);
	else
		return NULL;
	return text;
}

/* The default, but for one that is 0: that often stands for none. */
const char *value_example(const struct option_spec *spec, char *text)
{
	if (spec->kind == KIND_CHOICE)
		return format_word(spec->words, 0, text);
	if (spec->words)
		return strcpy(text, spec->words);
	if (spec->kind == KIND_STEP || !spec->value)
		return strcpy(text, kinds[spec->kind].example);
	return value_format(spec, spec->value, text);
}
