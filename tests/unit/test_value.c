// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Values as tc writes them, read by user/cli/value.c, and what user/cli/format.c writes. */
#include "unit.h"

#include "cli/format.h"
#include "cli/value.h"
#include <string.h>

#include "coupling.h"

static const struct {
	enum value_kind kind;
	const char *text;
	uint64_t value;
} accepted[] = {
	{ KIND_NUMBER, "0", 0 },
	{ KIND_NUMBER, "10000", 10000 },
	{ KIND_NUMBER, "007", 7 },
	{ KIND_NUMBER, "18446744073709551615", UINT64_MAX },
	{ KIND_NUMBER, "18446744073709551616", UINT64_MAX },
	{ KIND_NUMBER, "340282366920938463463374607431768211457", UINT64_MAX },

	{ KIND_RATE, "40mbit", 5000000 },
	{ KIND_RATE, "40Mbit", 5000000 },
	{ KIND_RATE, "1.5gbit", 187500000 },
	{ KIND_RATE, "500kibit", 64000 },
	{ KIND_RATE, "8000", 1000 },
	{ KIND_RATE, "8000bit", 1000 },
	{ KIND_RATE, "5mbps", 5000000 },
	{ KIND_RATE, "1mibps", 1048576 },
	{ KIND_RATE, "1gibit", 134217728 },
	{ KIND_RATE, "1tbit", 125000000000 },
	{ KIND_RATE, "1tibps", 1099511627776 },
	{ KIND_RATE, "12bit", 1 },
	{ KIND_RATE, "0", 0 },
	{ KIND_RATE, "0.0kbit", 0 },
	{ KIND_RATE, "1bit", 1 },
	{ KIND_RATE, "0.0000000001bit", 1 },
	{ KIND_RATE, "99999999999999999999gbit", UINT64_MAX },

	{ KIND_TIME, "15ms", 15000000 },
	{ KIND_TIME, "500us", 500000 },
	{ KIND_TIME, "500", 500000 },
	{ KIND_TIME, "1.5s", 1500000000 },
	{ KIND_TIME, "15msecs", 15000000 },
	{ KIND_TIME, "15msec", 15000000 },
	{ KIND_TIME, "1sec", 1000000000 },
	{ KIND_TIME, "2SECS", 2000000000 },
	{ KIND_TIME, "3usecs", 3000 },
	{ KIND_TIME, ".5ms", 500000 },
	{ KIND_TIME, "1.ms", 1000000 },
	{ KIND_TIME, "0.0015us", 1 },
	{ KIND_TIME, "0.000000001s", 1 },
	{ KIND_TIME, "0.9999999999s", 999999999 },
	{ KIND_TIME, "0", 0 },
	{ KIND_TIME, "18446744073.709551615s", UINT64_MAX },
	{ KIND_TIME, "18446744073.709551614s", UINT64_MAX - 1 },
	{ KIND_TIME, "18446744074s", UINT64_MAX },

	{ KIND_HANDLE, "8002:", 0x8002 },
	{ KIND_HANDLE, "8002", 0x8002 },
	{ KIND_HANDLE, "1:", 1 },
	{ KIND_HANDLE, "FFFF:", 0xffff },
	{ KIND_HANDLE, "0x10:", 16 },
	{ KIND_HANDLE, "123456789abcdef0123:", UINT64_MAX },

	{ KIND_SIZE, "30000000", 30000000 },
	{ KIND_SIZE, "64k", 65536 },
	{ KIND_SIZE, "64kb", 65536 },
	{ KIND_SIZE, "32mb", 33554432 },
	{ KIND_SIZE, "1g", 1073741824 },
	{ KIND_SIZE, "100kbit", 12800 },
	{ KIND_SIZE, "1mbit", 131072 },
	{ KIND_SIZE, "1.5k", 1536 },
	{ KIND_SIZE, "7b", 7 },

	{ KIND_PERCENT, "10", 10 },
	{ KIND_PERCENT, "10%", 10 },
	{ KIND_PERCENT, "101%", 101 },

	{ KIND_GAIN, "0.16", 41 },
	{ KIND_GAIN, "3.2", 819 },
	{ KIND_GAIN, "0.160156", 41 },
	{ KIND_GAIN, "3.199219", 819 },
	{ KIND_GAIN, "1", 256 },
	{ KIND_GAIN, "0", 0 },
	{ KIND_GAIN, "0.001953124", 0 },
	{ KIND_GAIN, "0.001953125", 1 },

	{ KIND_STEP, "5p", STEP_IN_PACKETS | 5 },
	{ KIND_STEP, "5pkt", STEP_IN_PACKETS | 5 },
	{ KIND_STEP, "5pkts", STEP_IN_PACKETS | 5 },
	{ KIND_STEP, "1packet", STEP_IN_PACKETS | 1 },
	{ KIND_STEP, "5packets", STEP_IN_PACKETS | 5 },
	{ KIND_STEP, "5PACKETS", STEP_IN_PACKETS | 5 },
	{ KIND_STEP, "1ms", 1000000 },
	{ KIND_STEP, "200", 200000 },
	{ KIND_STEP, "9223372036854775808us", STEP_IN_PACKETS - 1 },

	{ KIND_OVERHEAD, "-64", (uint64_t)-64 },
	{ KIND_OVERHEAD, "256", 256 },
	{ KIND_OVERHEAD, "99999999999999999999", INT64_MAX },
	{ KIND_OVERHEAD, "-99999999999999999999", (uint64_t)-INT64_MAX },

	{ KIND_SHARE, "100%", PROB_MAX },
	{ KIND_SHARE, "25", 1ULL << 30 },
	{ KIND_SHARE, "0.5%", 21474836 },
	{ KIND_SHARE, "0.00000003", 1 },
	{ KIND_SHARE, "0.00000002", 0 },
	{ KIND_SHARE, "99999999999999999999", UINT64_MAX },

	{ KIND_DSCPS, "none", 0 },
	{ KIND_DSCPS, "0", 1 },
	{ KIND_DSCPS, "63", 1ULL << 63 },
	{ KIND_DSCPS, "ef,45,nqb", 1ULL << 46 | 1ULL << 45 },
	{ KIND_DSCPS, "VA,voice-admit", 1ULL << 44 },
	{ KIND_DSCPS, "df,le,cs1", 1 << 0 | 1 << 1 | 1 << 8 },
	{ KIND_DSCPS, "cs0,cs2,cs3,cs4,cs5,cs6,cs7",
	  1ULL << 0 | 1ULL << 16 | 1ULL << 24 | 1ULL << 32 | 1ULL << 40 | 1ULL << 48 | 1ULL << 56 },
	{ KIND_DSCPS, "af11,af12,af13,af21,af22,af23",
	  1ULL << 10 | 1ULL << 12 | 1ULL << 14 | 1ULL << 18 | 1ULL << 20 | 1ULL << 22 },
	{ KIND_DSCPS, "af31,af32,af33,af41,af42,af43",
	  1ULL << 26 | 1ULL << 28 | 1ULL << 30 | 1ULL << 34 | 1ULL << 36 | 1ULL << 38 },
};

/* Any value of a kind. */
static enum value_status read_any(enum value_kind kind, const char *text, uint64_t *value)
{
	const bool is_signed = kind == KIND_OVERHEAD;
	const struct option_spec spec = {
		.kind = kind,
		.min = is_signed ? INT64_MIN : 0,
		.max = is_signed ? INT64_MAX : (int64_t)UINT64_MAX,
	};

	return value_read(&spec, text, value);
}

static void accepted_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		uint64_t value = 0xdead;
		enum value_status status = read_any(accepted[i].kind, accepted[i].text, &value);

		if (status != VALUE_OK || value != accepted[i].value)
			print_error("%s\n", accepted[i].text);
		assert_int_equal(status, VALUE_OK);
		assert_int_equal(value, accepted[i].value);
	}
}

static const struct {
	enum value_kind kind;
	const char *text;
} refused[] = {
	{ KIND_NUMBER, "1.0" },
	{ KIND_NUMBER, "10p" },
	{ KIND_NUMBER, "0x10" },
	{ KIND_RATE, "40m" },
	{ KIND_RATE, "40 mbit" },
	{ KIND_RATE, "40mbits" },
	{ KIND_RATE, "mbit" },
	{ KIND_RATE, "1e6" },
	{ KIND_RATE, "40%" },
	{ KIND_TIME, "15m" },
	{ KIND_TIME, "15 ms" },
	{ KIND_TIME, "1h" },
	{ KIND_TIME, "1.5.5s" },
	{ KIND_TIME, "1,5ms" },
	{ KIND_TIME, "ms" },
	{ KIND_TIME, "5p" },
	{ KIND_SIZE, "64kib" },
	{ KIND_SIZE, "1x" },
	{ KIND_PERCENT, "10%%" },
	{ KIND_PERCENT, "10.5" },
	{ KIND_PERCENT, "%" },
	{ KIND_GAIN, "0.16hz" },
	{ KIND_GAIN, "41/256" },
	{ KIND_STEP, "1.5p" },
	{ KIND_STEP, "5 packets" },
	{ KIND_STEP, "p" },
	{ KIND_SHARE, "25%%" },
	{ KIND_SHARE, "1/4" },
	{ KIND_DSCPS, "64" },
	{ KIND_DSCPS, "ef," },
	{ KIND_DSCPS, ",ef" },
	{ KIND_DSCPS, "ef,,va" },
	{ KIND_DSCPS, "ef va" },
	{ KIND_DSCPS, "none,ef" },
	{ KIND_DSCPS, "af14" },
	{ KIND_DSCPS, "cs8" },
	{ KIND_DSCPS, "voice-admitted-to" },
	{ KIND_HANDLE, "" },
	{ KIND_HANDLE, ":" },
	{ KIND_HANDLE, "-1:" },
	{ KIND_HANDLE, " 1:" },
	{ KIND_HANDLE, "8002:1" },
	{ KIND_HANDLE, "wan:" },
	{ KIND_STEP, "" },
	{ KIND_STEP, "-1ms" },
	{ KIND_STEP, "5px" },
	{ KIND_STEP, "ms" },
	{ KIND_OVERHEAD, "" },
	{ KIND_OVERHEAD, "-" },
	{ KIND_OVERHEAD, "+1" },
	{ KIND_OVERHEAD, "--1" },
	{ KIND_OVERHEAD, "1.5" },
	{ KIND_OVERHEAD, "-1b" },
	{ KIND_OVERHEAD, " -1" },
	{ KIND_OVERHEAD, "- 1" },
};

static void refuse(enum value_kind kind, const char *text)
{
	uint64_t value = 0xdead;
	enum value_status status = read_any(kind, text, &value);

	if (status != VALUE_MALFORMED)
		print_error("\"%s\" was taken as %llu\n", text, (unsigned long long)value);
	assert_int_equal(status, VALUE_MALFORMED);
	assert_int_equal(value, 0xdead); /* left alone */
}

static void refused_values(void **state)
{
	static const enum value_kind kinds[] = { KIND_NUMBER, KIND_RATE,    KIND_TIME,
						 KIND_SIZE,   KIND_PERCENT, KIND_GAIN,
						 KIND_STEP,   KIND_SHARE,   KIND_DSCPS };
	/* What none of them takes. */
	static const char *const texts[] = { "",     " ",     "-1",  "+1",  ".",   "..5", "abc",
					     "-1ms", "1 ",    " 1",  "1\n", "nan", "inf", "0x1",
					     "1e3",  "1.2.3", "--1", "1-",  "%",   "1;ls" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		refuse(refused[i].kind, refused[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			refuse(kinds[k], texts[i]);
	}
}

static void dscp_names_read_back(void **state)
{
	const struct option_spec spec = { .kind = KIND_DSCPS };
	int named = 0;

	(void)state;
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		char text[OPTION_TEXT_MAX];
		uint64_t set;

		value_format(&spec, 1ULL << dscp, text);
		named += *text > '9';
		assert_int_equal(value_read(&spec, text, &set), VALUE_OK);
		assert_int_equal(set, 1ULL << dscp);
	}
	assert_int_equal(named, 8 + 12 + 4); /* cs, af, and le, va, nqb, ef */
}

static void formatted_values(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_rate(5000000, text), "40mbit");
	assert_string_equal(format_rate(187500000, text), "1.5gbit");
	assert_string_equal(format_rate(1, text), "8bit");
	assert_string_equal(format_time(15000000, text), "15ms");
	assert_string_equal(format_time(0, text), "0us");
	assert_string_equal(format_time(1500, text), "1.5us");
	assert_string_equal(format_time(1000000001, text), "1.000000001s");
	assert_string_equal(format_class(0x80020001, text), "8002:1");
	assert_string_equal(format_count(99999, text), "99999");
	assert_string_equal(format_count(1230000, text), "1.23M");
	assert_string_equal(format_count(999600, text), "1.00M");
	assert_string_equal(format_delay(0, text), "0us");
	assert_string_equal(format_delay(5, text), "0.01us");
	assert_string_equal(format_delay(14940000, text), "14.9ms");
	assert_string_equal(format_delay(9996000, text), "10.0ms");
	assert_string_equal(format_delay(999499, text), "999us");
	assert_string_equal(format_delay(999501, text), "1.00ms");
	assert_string_equal(format_delay(UINT64_MAX, text), "18446744074s");
	assert_string_equal(format_speed(0, text), "0bit");
	assert_string_equal(format_speed(823.6, text), "824bit");
	assert_string_equal(format_speed(999.6, text), "1.00kbit");
	assert_string_equal(format_speed(24.1e6, text), "24.1mbit");
	assert_string_equal(format_share(123, 1000, text), "12.3 %");
	assert_string_equal(format_share(5, 10000, text), "0.05 %");
	assert_string_equal(format_share(0, 0, text), "-");
}

/* A counter of another build may hold anything: 2^64 bytes within a nanosecond. */
static void speed_without_a_largest_value(void **state)
{
	char text[FORMAT_MAX];

	(void)state;
	assert_string_equal(format_speed(8e9 * 18446744073709551616.0, text),
			    "147573952589676416tbit");
}

/* Of a kind that has units. */
static void number_without_a_unit(void **state)
{
	static const struct {
		enum value_kind kind;
		const char *given, *meant;
	} rows[] = {
		{ KIND_TIME, "15", "15us" },  { KIND_TIME, ".5", ".5us" },
		{ KIND_STEP, "2", "2us" },    { KIND_RATE, "40", "40bit/s" },
		{ KIND_TIME, "15us", NULL },  { KIND_TIME, "0", NULL },
		{ KIND_TIME, "0.0", NULL },   { KIND_STEP, "5p", NULL },
		{ KIND_RATE, "4kbit", NULL }, { KIND_NUMBER, "15", NULL },
		{ KIND_SIZE, "64", NULL },    { KIND_TIME, "", NULL },
	};
	char text[OPTION_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_spec spec = { .kind = rows[i].kind };
		const char *meant = value_bare(&spec, rows[i].given, text);

		assert_int_equal(!meant, !rows[i].meant);
		if (meant)
			assert_string_equal(meant, rows[i].meant);
	}
}

/* Where tc's units are not those that people know. */
static void units_that_surprise(void **state)
{
	static const struct {
		enum value_kind kind;
		const char *given, *told; /* its beginning */
	} rows[] = {
		{ KIND_RATE, "40mbps", "320mbit: in tc's words" },
		{ KIND_RATE, "1.5GBps", "12gbit: in tc's words" },
		{ KIND_RATE, "1000bps", "8kbit: in tc's words" },
		{ KIND_RATE, "40kibps", "327.68kbit: in tc's words" },
		{ KIND_RATE, "9000", "9000bit/s: give a unit" },
		{ KIND_TIME, "15", "15us: give a unit" },
		{ KIND_RATE, "40mbit", NULL },
		{ KIND_RATE, "bps", NULL },
		{ KIND_RATE, "0", NULL },
		{ KIND_TIME, "15ms", NULL },
		{ KIND_PACKETS, "15", NULL },
	};
	char text[OPTION_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_spec spec = { .kind = rows[i].kind, .max = INT64_MAX };
		const char *told = value_surprise(&spec, rows[i].given, text);

		assert_int_equal(!told, !rows[i].told);
		if (told)
			assert_memory_equal(told, rows[i].told, strlen(rows[i].told));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_values),
		cmocka_unit_test(refused_values),
		cmocka_unit_test(dscp_names_read_back),
		cmocka_unit_test(formatted_values),
		cmocka_unit_test(speed_without_a_largest_value),
		cmocka_unit_test(number_without_a_unit),
		cmocka_unit_test(units_that_surprise),
	};

	return RUN_TESTS(tests);
}
