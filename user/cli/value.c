// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/parse.h"
#include "coupling.h"
#include "dualpi2.h"

#define ONE (1ULL << 32) /* a share of 100 % */
#define AUTO "auto"	 /* a share that follows from other parameters */

/* ---- what is special about a kind ---------------------------------------------- */

static bool parse_step(const char *text, uint64_t *value)
{
	bool in_packets;

	if (!parse_step_thresh(text, value, &in_packets))
		return false;
	if (*value >= STEP_IN_PACKETS)
		*value = STEP_IN_PACKETS - 1;
	if (in_packets)
		*value |= STEP_IN_PACKETS;
	return true;
}

static bool parse_overhead(const char *text, uint64_t *value)
{
	int64_t bytes;

	if (!parse_int(text, &bytes))
		return false;
	*value = (uint64_t)bytes;
	return true;
}

static bool parse_name(const char *text, uint64_t *value)
{
	*value = 0;
	return *text;
}

static const char *format_uint(uint64_t value, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%" PRIu64, value);
	return text;
}

static const char *format_hz(uint64_t value, char *text)
{
	return format_gain((uint32_t)value, text);
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

static const char *format_dscps(uint64_t dscps, char *text)
{
	size_t used = 0;

	strcpy(text, "none");
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		const char *name = dscp_name(dscp), *comma = used ? "," : "";

		if (!(dscps >> dscp & 1))
			continue;
		if (name)
			used += snprintf(text + used, OPTION_TEXT_MAX - used, "%s%s", comma, name);
		else
			used += snprintf(text + used, OPTION_TEXT_MAX - used, "%s%u", comma, dscp);
	}
	return text;
}

/* Into whole seconds, if it is as much as one: the limits of native have odd digits. */
static const char *format_limit(uint64_t ns, char *text)
{
	return format_time(ns < DUALPI2_NSEC_PER_SEC ? ns : ns - ns % DUALPI2_NSEC_PER_SEC, text);
}

/* ---- kinds --------------------------------------------------------------------- */

struct kind {
	const char *argument;
	const char *what;
	const char *example;
	bool (*parse)(const char *text, uint64_t *value);
	const char *(*format)(uint64_t value, char *text);
	const char *unit; /* behind it, for people; NULL: none */
};

static const struct kind kinds[N_KINDS] = {
	[KIND_FILE] = { "FILE", "a name", NULL, parse_name, NULL, NULL },
	[KIND_TIME] = { "TIME", "a time", "15ms", parse_time, format_time, NULL },
	[KIND_GAIN] = { "HZ", "a gain in Hz", "0.16", parse_gain, format_hz, NULL },
	[KIND_NUMBER] = { "N", "a whole number", "10", parse_uint, format_uint, NULL },
	[KIND_PACKETS] = { "PACKETS", "a whole number", "10000", parse_uint, format_uint, "p" },
	[KIND_QLEN] = { "PACKETS", "a whole number", "5", parse_uint, format_uint, NULL },
	[KIND_BYTES] = { "BYTES", "a whole number", "64", parse_uint, format_uint, NULL },
	[KIND_OVERHEAD] = { "BYTES", "a whole number", "44", parse_overhead, format_overhead,
			    NULL },
	[KIND_SIZE] = { "BYTES", "a size", "30m", parse_size, format_uint, "b" },
	[KIND_PERCENT] = { "PERCENT", "a whole percentage", "10", parse_percent, format_uint, "%" },
	[KIND_SHARE] = { "PERCENT", "a percentage", "25%", parse_share, format_probability, NULL },
	[KIND_RATE] = { "RATE", "a rate", "40mbit", parse_rate, format_rate_or_none, NULL },
	[KIND_STEP] = { "TIME|Np", "a time or a number of packets", "1ms or 5p", parse_step,
			format_step, NULL },
	[KIND_DSCPS] = { "LIST", "a list of DSCPs", "ef,nqb,40", parse_dscps, format_dscps, NULL },
	[KIND_CHOICE] = { NULL, "one of them", NULL, NULL, NULL, NULL },
};

bool value_is_taken(const struct option_spec *spec)
{
	return kinds[spec->kind].what;
}

const char *value_argument(const struct option_spec *spec)
{
	return spec->kind == KIND_CHOICE ? spec->words : kinds[spec->kind].argument;
}

const char *value_what(const struct option_spec *spec)
{
	return kinds[spec->kind].what;
}

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

const char *value_word(const struct option_spec *spec, uint64_t value, char *text)
{
	const char *word;
	size_t length = find_word(spec->words, value, &word);

	if (!length)
		return strcpy(text, "unknown");
	snprintf(text, OPTION_TEXT_MAX, "%.*s", (int)length, word);
	return text;
}

static enum value_status read_word(const struct option_spec *spec, const char *text,
				   uint64_t *value)
{
	const char *word;
	size_t length;

	for (*value = 0; (length = find_word(spec->words, *value, &word)); ++*value) {
		if (strlen(text) == length && !strncmp(text, word, length))
			return VALUE_OK;
	}
	return VALUE_MALFORMED;
}

/* ---- all kinds ----------------------------------------------------------------- */

static bool in_range(const struct option_spec *spec, uint64_t value)
{
	switch (spec->kind) {
	case KIND_FILE:
	case KIND_DSCPS:
		return true;
	case KIND_OVERHEAD:
		return (int64_t)value >= spec->min && (int64_t)value <= spec->max;
	case KIND_STEP:
		if (value & STEP_IN_PACKETS)
			return (value & ~STEP_IN_PACKETS) <= UINT32_MAX;
		break;
	case KIND_RATE:
		if (!value)
			return true;
		break;
	default:
		break;
	}
	return value >= (uint64_t)spec->min && value <= (uint64_t)spec->max;
}

/* A share of which 0 is not in the range can be left to the programs: that is 0. */
static bool has_auto(const struct option_spec *spec)
{
	return spec->kind == KIND_SHARE && spec->min;
}

enum value_status value_read(const struct option_spec *spec, const char *text, uint64_t *value)
{
	if (spec->kind == KIND_CHOICE)
		return read_word(spec, text, value);
	if (has_auto(spec) && !strcmp(text, AUTO)) {
		*value = 0;
		return VALUE_OK;
	}
	if (!kinds[spec->kind].parse(text, value))
		return VALUE_MALFORMED;
	if (!in_range(spec, *value))
		return VALUE_OUT_OF_RANGE;
	if (spec->kind == KIND_SHARE && *value == ONE) /* which does not fit 32 bits */
		*value = PROB_MAX;
	return VALUE_OK;
}

const char *value_format(const struct option_spec *spec, uint64_t value, char *text)
{
	if (spec->kind == KIND_CHOICE)
		return value_word(spec, value, text);
	if (has_auto(spec) && !value)
		return strcpy(text, AUTO);
	return kinds[spec->kind].format(value, text);
}

const char *value_show(const struct option_spec *spec, uint64_t value, char *text)
{
	value_format(spec, value, text);
	if (kinds[spec->kind].unit)
		strcat(text, kinds[spec->kind].unit);
	return text;
}

static const char *choice_range(const char *words, char *text)
{
	char *end = text;

	for (; *words; words++) {
		if (*words == '|')
			end = stpcpy(end, " or ");
		else
			*end++ = *words;
	}
	*end = '\0';
	return text;
}

const char *value_range(const struct option_spec *spec, char *text)
{
	char min[OPTION_TEXT_MAX], max[OPTION_TEXT_MAX];
	const char *(*format)(uint64_t value, char *text) = kinds[spec->kind].format;

	switch (spec->kind) {
	case KIND_FILE:
		return strcpy(text, "any");
	case KIND_CHOICE:
		return choice_range(spec->words, text);
	case KIND_DSCPS:
		return strcpy(text, "0 to 63, cs0 to cs7, af11 to af43, ef, va, le, nqb, df; "
				    "or none");
	case KIND_SHARE:
		return strcpy(text, has_auto(spec) ? "above 0 to 100, or auto" : "0 to 100");
	case KIND_OVERHEAD:
		snprintf(text, OPTION_TEXT_MAX, "%" PRId64 " to %" PRId64, spec->min, spec->max);
		return text;
	case KIND_TIME:
	case KIND_STEP:
		format = format_limit;
		break;
	default:
		break;
	}
	snprintf(text, OPTION_TEXT_MAX, "%s%.60s to %.60s%s",
		 spec->kind == KIND_RATE ? "0, or " : "", format(spec->min, min),
		 format(spec->max, max), spec->kind == KIND_STEP ? " or 0p to 4294967295p" : "");
	return text;
}

bool value_has_default(const struct option_spec *spec)
{
	return spec->size && value_is_taken(spec) &&
	       (spec->kind == KIND_CHOICE || has_auto(spec) || in_range(spec, spec->value));
}

/* The default, but for one that is 0: that often stands for none. */
const char *value_example(const struct option_spec *spec, char *text)
{
	uint64_t first;

	if (spec->kind == KIND_FILE)
		return strcpy(text, spec->words);
	if (spec->kind == KIND_CHOICE)
		return value_word(spec, 0, text);
	first = spec->kind == KIND_STEP ? 0 : spec->value;
	return first ? value_format(spec, first, text) : strcpy(text, kinds[spec->kind].example);
}
