// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parsers of user/parse.c against values as tc writes them, and
 * user/format.c.
 */
#include "unit.h"

#include "cli/format.h"
#include "cli/parse.h"

typedef bool (*parser)(const char *text, uint64_t *value);

static const struct {
	parser parse;
	const char *text;
	uint64_t value;
} accepted[] = {
	{ parse_uint, "0", 0 },
	{ parse_uint, "10000", 10000 },
	{ parse_uint, "007", 7 },
	{ parse_uint, "18446744073709551615", UINT64_MAX },
	{ parse_uint, "18446744073709551616", UINT64_MAX },
	{ parse_uint, "340282366920938463463374607431768211457", UINT64_MAX },

	{ parse_rate, "40mbit", 5000000 },
	{ parse_rate, "40Mbit", 5000000 },
	{ parse_rate, "1.5gbit", 187500000 },
	{ parse_rate, "500kibit", 64000 },
	{ parse_rate, "8000", 1000 },
	{ parse_rate, "8000bit", 1000 },
	{ parse_rate, "5mbps", 5000000 },
	{ parse_rate, "1mibps", 1048576 },
	{ parse_rate, "1gibit", 134217728 },
	{ parse_rate, "1tbit", 125000000000 },
	{ parse_rate, "1tibps", 1099511627776 },
	{ parse_rate, "12bit", 1 },
	{ parse_rate, "0", 0 },
	{ parse_rate, "0.0kbit", 0 },
	{ parse_rate, "1bit", 1 },
	{ parse_rate, "0.0000000001bit", 1 },
	{ parse_rate, "99999999999999999999gbit", UINT64_MAX },

	{ parse_time, "15ms", 15000000 },
	{ parse_time, "500us", 500000 },
	{ parse_time, "500", 500000 },
	{ parse_time, "1.5s", 1500000000 },
	{ parse_time, "15msecs", 15000000 },
	{ parse_time, "15msec", 15000000 },
	{ parse_time, "1sec", 1000000000 },
	{ parse_time, "2SECS", 2000000000 },
	{ parse_time, "3usecs", 3000 },
	{ parse_time, ".5ms", 500000 },
	{ parse_time, "1.ms", 1000000 },
	{ parse_time, "0.0015us", 1 },
	{ parse_time, "0.000000001s", 1 },
	{ parse_time, "0.9999999999s", 999999999 },
	{ parse_time, "0", 0 },
	{ parse_time, "18446744073.709551615s", UINT64_MAX },
	{ parse_time, "18446744073.709551614s", UINT64_MAX - 1 },
	{ parse_time, "18446744074s", UINT64_MAX },

	{ parse_size, "30000000", 30000000 },
	{ parse_size, "64k", 65536 },
	{ parse_size, "64kb", 65536 },
	{ parse_size, "32mb", 33554432 },
	{ parse_size, "1g", 1073741824 },
	{ parse_size, "100kbit", 12800 },
	{ parse_size, "1mbit", 131072 },
	{ parse_size, "1.5k", 1536 },
	{ parse_size, "7b", 7 },

	{ parse_percent, "10", 10 },
	{ parse_percent, "10%", 10 },
	{ parse_percent, "101%", 101 },

	{ parse_gain, "0.16", 41 },
	{ parse_gain, "3.2", 819 },
	{ parse_gain, "0.160156", 41 },
	{ parse_gain, "3.199219", 819 },
	{ parse_gain, "1", 256 },
	{ parse_gain, "0", 0 },
	{ parse_gain, "0.001953124", 0 },
	{ parse_gain, "0.001953125", 1 },

	{ parse_packets, "5p", 5 },
	{ parse_packets, "5pkt", 5 },
	{ parse_packets, "5pkts", 5 },
	{ parse_packets, "1packet", 1 },
	{ parse_packets, "5PACKETS", 5 },

	{ parse_share, "100%", 1ULL << 32 },
	{ parse_share, "25", 1ULL << 30 },
	{ parse_share, "0.5%", 21474836 },
	{ parse_share, "0.00000003", 1 },
	{ parse_share, "0.00000002", 0 },
	{ parse_share, "99999999999999999999", UINT64_MAX },

	{ parse_dscps, "none", 0 },
	{ parse_dscps, "0", 1 },
	{ parse_dscps, "63", 1ULL << 63 },
	{ parse_dscps, "ef,45,nqb", 1ULL << 46 | 1ULL << 45 },
	{ parse_dscps, "VA,voice-admit", 1ULL << 44 },
	{ parse_dscps, "df,le,cs1", 1 << 0 | 1 << 1 | 1 << 8 },
	{ parse_dscps, "cs0,cs2,cs3,cs4,cs5,cs6,cs7",
	  1ULL << 0 | 1ULL << 16 | 1ULL << 24 | 1ULL << 32 | 1ULL << 40 | 1ULL << 48 | 1ULL << 56 },
	{ parse_dscps, "af11,af12,af13,af21,af22,af23",
	  1ULL << 10 | 1ULL << 12 | 1ULL << 14 | 1ULL << 18 | 1ULL << 20 | 1ULL << 22 },
	{ parse_dscps, "af31,af32,af33,af41,af42,af43",
	  1ULL << 26 | 1ULL << 28 | 1ULL << 30 | 1ULL << 34 | 1ULL << 36 | 1ULL << 38 },
};

static void accepted_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		uint64_t value = 0xdead;
		bool parsed = accepted[i].parse(accepted[i].text, &value);

		if (!parsed || value != accepted[i].value)
			print_error("%s\n", accepted[i].text);
		assert_true(parsed);
		assert_int_equal(value, accepted[i].value);
	}
}

static const struct {
	parser parse;
	const char *text;
} refused[] = {
	{ parse_uint, "1.0" },	    { parse_uint, "10p" },
	{ parse_uint, "0x10" },	    { parse_rate, "40m" },
	{ parse_rate, "40 mbit" },  { parse_rate, "40mbits" },
	{ parse_rate, "mbit" },	    { parse_rate, "1e6" },
	{ parse_rate, "40%" },	    { parse_time, "15m" },
	{ parse_time, "15 ms" },    { parse_time, "1h" },
	{ parse_time, "1.5.5s" },   { parse_time, "1,5ms" },
	{ parse_time, "ms" },	    { parse_time, "5p" },
	{ parse_size, "64kib" },    { parse_size, "1x" },
	{ parse_percent, "10%%" },  { parse_percent, "10.5" },
	{ parse_percent, "%" },	    { parse_gain, "0.16hz" },
	{ parse_gain, "41/256" },   { parse_packets, "5" },
	{ parse_packets, "1.5p" },  { parse_packets, "5 packets" },
	{ parse_packets, "p" },	    { parse_share, "25%%" },
	{ parse_share, "1/4" },	    { parse_dscps, "64" },
	{ parse_dscps, "ef," },	    { parse_dscps, ",ef" },
	{ parse_dscps, "ef,,va" },  { parse_dscps, "ef va" },
	{ parse_dscps, "none,ef" }, { parse_dscps, "af14" },
	{ parse_dscps, "cs8" },	    { parse_dscps, "voice-admitted-to" },
};

static void refuse(parser parse, const char *text)
{
	uint64_t value = 0xdead;
	bool parsed = parse(text, &value);

	if (parsed)
		print_error("\"%s\" was taken as %llu\n", text, (unsigned long long)value);
	assert_false(parsed);
	assert_int_equal(value, 0xdead); /* left alone */
}

static void refused_values(void **state)
{
	static const parser parsers[] = { parse_uint,	 parse_rate,	parse_time,
					  parse_size,	 parse_percent, parse_gain,
					  parse_packets, parse_share,	parse_dscps };
	/* What none of them takes. */
	static const char *const texts[] = { "",     " ",     "-1",  "+1",  ".",   "..5", "abc",
					     "-1ms", "1 ",    " 1",  "1\n", "nan", "inf", "0x1",
					     "1e3",  "1.2.3", "--1", "1-",  "%",   "1;ls" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		refuse(refused[i].parse, refused[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(parsers); k++)
			refuse(parsers[k], texts[i]);
	}
}

static void signed_numbers(void **state)
{
	static const char *const wrong[] = { "", "-", "+1", "--1", "1.5", "-1b", " -1", "- 1" };
	int64_t value = 0;

	(void)state;
	assert_true(parse_int("-64", &value));
	assert_int_equal(value, -64);
	assert_true(parse_int("256", &value));
	assert_int_equal(value, 256);
	assert_true(parse_int("99999999999999999999", &value));
	assert_int_equal(value, INT64_MAX);
	assert_true(parse_int("-99999999999999999999", &value));
	assert_int_equal(value, -INT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(parse_int(wrong[i], &value));
	assert_int_equal(value, -INT64_MAX); /* left alone */
}

static void dscp_names_read_back(void **state)
{
	uint64_t set;
	int named = 0;

	(void)state;
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		if (!dscp_name(dscp))
			continue;
		named++;
		assert_true(parse_dscps(dscp_name(dscp), &set));
		assert_int_equal(set, 1ULL << dscp);
	}
	assert_int_equal(named, 8 + 12 + 4); /* cs, af, and le, va, nqb, ef */
}

static void step_threshold_is_a_time_or_packets(void **state)
{
	uint64_t value = 0;
	bool in_packets = true;

	(void)state;
	assert_true(parse_step_thresh("1ms", &value, &in_packets));
	assert_int_equal(value, 1000000);
	assert_false(in_packets);
	assert_true(parse_step_thresh("5packets", &value, &in_packets));
	assert_int_equal(value, 5);
	assert_true(in_packets);
	assert_true(parse_step_thresh("200", &value, &in_packets));
	assert_int_equal(value, 200000);
	assert_false(in_packets);
}

static void wrong_step_threshold_changes_nothing(void **state)
{
	static const char *const texts[] = { "", "-1ms", "5px", "1.5p", "ms", "p" };
	uint64_t value = 0xdead;
	bool in_packets = true;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_false(parse_step_thresh(texts[i], &value, &in_packets));
		assert_int_equal(value, 0xdead);
		assert_true(in_packets);
	}
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
	assert_string_equal(format_gain(41, text), "0.160156");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_values),
		cmocka_unit_test(refused_values),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(dscp_names_read_back),
		cmocka_unit_test(step_threshold_is_a_time_or_packets),
		cmocka_unit_test(wrong_step_threshold_changes_nothing),
		cmocka_unit_test(formatted_values),
		cmocka_unit_test(speed_without_a_largest_value),
	};

	return RUN_TESTS(tests);
}
