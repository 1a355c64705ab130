// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters and counters: include/dualpi2.h, and the option table of
 * user/params.c with its ranges.
 */
#include <string.h>

#include "dualpi2.h"
#include "format.h"
#include "params.h" /* before unit.h: cmocka has a macro fail(), we have a function */

#include "unit.h"

static const struct dualpi2_params defaults = DUALPI2_DEFAULT_PARAMS;

/* As sch_dualpi2's (the table of the native command line). */
static void defaults_are_native(void **state)
{
	(void)state;
	assert_int_equal(defaults.limit, 10000);
	assert_int_equal(defaults.memlimit, 0);
	assert_int_equal(defaults.target_ns, 15000000);
	assert_int_equal(defaults.tupdate_ns, 16000000);
	assert_int_equal(defaults.alpha, 41);
	assert_int_equal(defaults.beta, 819);
	assert_int_equal(defaults.coupling, 2);
	assert_int_equal(defaults.step_ns, 1000000);
	assert_int_equal(defaults.step_in_packets, 0);
	assert_int_equal(defaults.classic_protection, 10);
	assert_int_equal(defaults.rate, 0);
}

static void memlimit_is_twice_the_full_packets(void **state)
{
	struct dualpi2_params params = defaults;

	(void)state;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 30280000);
	params.limit = 1;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 3028);
	params.limit = DUALPI2_LIMIT_MAX; /* 2^24 * frame_len bytes */
	assert_int_equal(dualpi2_memlimit(&params, 255), 255U << 24);
	assert_int_equal(dualpi2_memlimit(&params, 256), UINT32_MAX);
	assert_int_equal(dualpi2_memlimit(&params, UINT32_MAX), UINT32_MAX);
}

static void memlimit_given_is_in_force(void **state)
{
	struct dualpi2_params params = { .limit = 10000, .memlimit = 1 };

	(void)state;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 1);
	params.memlimit = UINT32_MAX;
	assert_int_equal(dualpi2_memlimit(&params, 1514), UINT32_MAX);
}

/* Every counter called drop_* is a drop, and nothing else is. */
static void drops_are_all_drop_counters(void **state)
{
	struct dualpi2_queue queue;
	uint64_t *counter = (uint64_t *)&queue, expected = 0, worth = 1;

	(void)state;
	memset(&queue, 0x55, sizeof(queue));
#define SET(member, unit, meaning)         \
	*counter++ = worth;                \
	if (!strncmp(#member, "drop_", 5)) \
		expected += worth;         \
	worth *= 2;
	DUALPI2_QUEUE_COUNTERS(SET)
#undef SET
	assert_int_equal(dualpi2_queue_drops(&queue), expected);
}

/* The edges of every range, both sides. */
static void ranges(void **state)
{
	static const struct {
		enum param param;
		const char *text;
		enum value_status status;
	} rows[] = {
		{ PARAM_RATE, "0", VALUE_OK },
		{ PARAM_RATE, "8kbit", VALUE_OK },
		{ PARAM_RATE, "7999bit", VALUE_OUT_OF_RANGE },
		{ PARAM_RATE, "1tbit", VALUE_OK },
		{ PARAM_RATE, "1.1tbit", VALUE_OUT_OF_RANGE },
		{ PARAM_RATE, "40mb", VALUE_MALFORMED },
		{ PARAM_TARGET, "0", VALUE_OK },
		{ PARAM_TARGET, "4294967295us", VALUE_OK },
		{ PARAM_TARGET, "4294967296us", VALUE_OUT_OF_RANGE },
		{ PARAM_TARGET, "-1ms", VALUE_MALFORMED },
		{ PARAM_TUPDATE, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_TUPDATE, "0.999us", VALUE_OUT_OF_RANGE },
		{ PARAM_TUPDATE, "1us", VALUE_OK },
		{ PARAM_ALPHA, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_ALPHA, "0.00391", VALUE_OK },
		{ PARAM_ALPHA, "32767.99609375", VALUE_OK },
		{ PARAM_BETA, "32768", VALUE_OUT_OF_RANGE },
		{ PARAM_BETA, "3.2hz", VALUE_MALFORMED },
		{ PARAM_COUPLING_FACTOR, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_COUPLING_FACTOR, "1", VALUE_OK },
		{ PARAM_COUPLING_FACTOR, "255", VALUE_OK },
		{ PARAM_COUPLING_FACTOR, "256", VALUE_OUT_OF_RANGE },
		{ PARAM_COUPLING_FACTOR, "4294967298", VALUE_OUT_OF_RANGE },
		{ PARAM_STEP_THRESH, "0", VALUE_OK },
		{ PARAM_STEP_THRESH, "4294967295p", VALUE_OK },
		{ PARAM_STEP_THRESH, "4294967296p", VALUE_OUT_OF_RANGE },
		{ PARAM_STEP_THRESH, "1.5p", VALUE_MALFORMED },
		{ PARAM_CLASSIC_PROTECTION, "0", VALUE_OK },
		{ PARAM_CLASSIC_PROTECTION, "100%", VALUE_OK },
		{ PARAM_CLASSIC_PROTECTION, "101", VALUE_OUT_OF_RANGE },
		{ PARAM_CLASSIC_PROTECTION, "10.5", VALUE_MALFORMED },
		{ PARAM_LIMIT, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_LIMIT, "1", VALUE_OK },
		{ PARAM_LIMIT, "8388608", VALUE_OK },
		{ PARAM_LIMIT, "8388609", VALUE_OUT_OF_RANGE },
		{ PARAM_LIMIT, "99999999999999999999999", VALUE_OUT_OF_RANGE },
		{ PARAM_MEMLIMIT, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_MEMLIMIT, "1", VALUE_OK },
		{ PARAM_MEMLIMIT, "4294967295", VALUE_OK },
		{ PARAM_MEMLIMIT, "4g", VALUE_OUT_OF_RANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_spec *spec = &param_specs[rows[i].param];
		struct dualpi2_params scratch = defaults;
		enum value_status status = spec->set(rows[i].text, &scratch);

		if (status != rows[i].status)
			print_error("--%s %s\n", spec->name, rows[i].text);
		assert_int_equal(status, rows[i].status);
	}
}

/* Each option sets its own member, and only that one; shown, it reads the same. */
static void each_option_sets_its_member(void **state)
{
	const char *const values[N_PARAMS] = {
		[PARAM_RATE] = "40mbit",       [PARAM_TARGET] = "5ms",
		[PARAM_TUPDATE] = "6ms",       [PARAM_ALPHA] = "0.15625",
		[PARAM_BETA] = "3.125",	       [PARAM_COUPLING_FACTOR] = "4",
		[PARAM_STEP_THRESH] = "700us", [PARAM_CLASSIC_PROTECTION] = "25%",
		[PARAM_LIMIT] = "1234",	       [PARAM_MEMLIMIT] = "2m",
	};
	const struct dualpi2_params expected = {
		.rate = 5000000,
		.target_ns = 5000000,
		.tupdate_ns = 6000000,
		.alpha = 40,
		.beta = 800,
		.coupling = 4,
		.step_ns = 700000,
		.classic_protection = 25,
		.limit = 1234,
		.memlimit = 2 << 20,
	};
	struct dualpi2_params params = {};
	char text[FORMAT_MAX];

	(void)state;
	params_apply(values, &params);
	assert_memory_equal(&params, &expected, sizeof(params));
	assert_string_equal(param_specs[PARAM_RATE].format(&params, text), "40mbit");
	assert_string_equal(param_specs[PARAM_TARGET].format(&params, text), "5ms");
	assert_string_equal(param_specs[PARAM_STEP_THRESH].format(&params, text), "700us");
	assert_string_equal(param_specs[PARAM_BETA].format(&params, text), "3.125000");
	assert_string_equal(param_specs[PARAM_CLASSIC_PROTECTION].format(&params, text), "25%");
}

static void step_in_packets_and_back(void **state)
{
	struct dualpi2_params params = defaults;
	char text[FORMAT_MAX];

	(void)state;
	assert_int_equal(param_specs[PARAM_STEP_THRESH].set("5pkt", &params), VALUE_OK);
	assert_int_equal(params.step_in_packets, 1);
	assert_int_equal(params.step_packets, 5);
	assert_string_equal(param_specs[PARAM_STEP_THRESH].format(&params, text), "5p");
	assert_int_equal(param_specs[PARAM_STEP_THRESH].set("2ms", &params), VALUE_OK);
	assert_int_equal(params.step_in_packets, 0);
	assert_int_equal(params.step_ns, 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_native),
		cmocka_unit_test(memlimit_is_twice_the_full_packets),
		cmocka_unit_test(memlimit_given_is_in_force),
		cmocka_unit_test(drops_are_all_drop_counters),
		cmocka_unit_test(ranges),
		cmocka_unit_test(each_option_sets_its_member),
		cmocka_unit_test(step_in_packets_and_back),
	};

	return RUN_TESTS(tests);
}
