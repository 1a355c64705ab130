// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The native AQM of the L queue, include/laqm.h, against figures worked out by hand. */
#include "unit.h"

#include "laqm.h"

#define USEC 1000ULL
#define ALWAYS PROB_MAX
#define MANY 100 /* packets in the queue, where their number does not matter */

static const struct dualpi2_params by_default = DUALPI2_DEFAULT_PARAMS;
static const struct dualpi2_params ramp = { .l_aqm = DUALPI2_L_RAMP };

static void step_marks_what_is_above(void **state)
{
	const struct dualpi2_params none = { .step_ns = 0 };

	(void)state;
	assert_int_equal(laqm_prob(&by_default, 0, MANY), 0);
	assert_int_equal(laqm_prob(&by_default, 1000 * USEC, MANY), 0);
	assert_int_equal(laqm_prob(&by_default, 1000 * USEC + 1, MANY), ALWAYS);
	assert_int_equal(laqm_prob(&by_default, UINT64_MAX, MANY), ALWAYS);
	assert_int_equal(laqm_prob(&none, 0, MANY), 0);
	assert_int_equal(laqm_prob(&none, 1, MANY), ALWAYS);
}

/* The delay has no say then. */
static void step_in_packets(void **state)
{
	struct dualpi2_params params = { .step_in_packets = 1, .step_packets = 5 };

	(void)state;
	assert_int_equal(laqm_prob(&params, UINT64_MAX, 5), 0);
	assert_int_equal(laqm_prob(&params, 0, 6), ALWAYS);
	params.step_packets = 0;
	assert_int_equal(laqm_prob(&params, UINT64_MAX, 0), 0);
	assert_int_equal(laqm_prob(&params, 0, 1), ALWAYS);
	params.step_packets = UINT32_MAX;
	assert_int_equal(laqm_prob(&params, 0, UINT32_MAX), 0);
	assert_int_equal(laqm_prob(&params, 0, 1ULL << 32), ALWAYS);
}

/* A ns is worth (2^32 - 1) / 400000 = 10737.418 units. In the middle: 2147483647.5. */
static void ramp_rises_from_800_to_1200_us(void **state)
{
	static const struct {
		__u64 delay_ns;
		__u32 prob;
	} rows[] = {
		{ 0, 0 },
		{ 800 * USEC - 1, 0 },
		{ 800 * USEC, 0 },
		{ 800 * USEC + 1, 10737 },
		{ 800 * USEC + 2, 21474 },
		{ 1000 * USEC - 1, 2147472910 },
		{ 1000 * USEC, 2147483647 },
		{ 1000 * USEC + 1, 2147494384 },
		{ 1200 * USEC - 1, 4294956557 },
		{ 1200 * USEC, ALWAYS },
		{ 1200 * USEC + 1, ALWAYS },
		{ UINT64_MAX, ALWAYS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(laqm_prob(&ramp, rows[i].delay_ns, MANY), rows[i].prob);
}

/* The thresholds of the step are not those of the ramp. */
static void ramp_is_not_the_step(void **state)
{
	const struct dualpi2_params params = {
		.l_aqm = DUALPI2_L_RAMP, .step_in_packets = 1, .step_packets = 5, .step_ns = 1
	};

	(void)state;
	assert_int_equal(laqm_prob(&params, 800 * USEC, 6), 0);
	assert_int_equal(laqm_prob(&params, 1000 * USEC, 5), 2147483647);
}

/* Whatever the delay: a frame alone may take that long. What the step is in packets, or
 * would be, has no say.
 */
static void pair_is_left_alone(void **state)
{
	static const struct dualpi2_params rows[] = {
		{ .step_ns = 0 },
		{ .l_aqm = DUALPI2_L_RAMP },
		{ .l_aqm = DUALPI2_L_RAMP, .step_in_packets = 1, .step_packets = 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(laqm_prob(&rows[i], UINT64_MAX, 0), 0);
		assert_int_equal(laqm_prob(&rows[i], UINT64_MAX, 1), 0);
		assert_int_equal(laqm_prob(&rows[i], UINT64_MAX, 2), ALWAYS);
	}
}

/* Below so many packets none of the three acts, from there on each does. */
static void short_queue_is_left_alone(void **state)
{
	static const __u32 least[] = { 2, 3, UINT32_MAX };
	struct dualpi2_params rows[] = {
		{ .step_ns = 0 },
		{ .step_in_packets = 1, .step_packets = 0 },
		{ .l_aqm = DUALPI2_L_RAMP },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(least); i++) {
		struct dualpi2_params *params = &rows[i / ARRAY_SIZE(least)];

		params->min_qlen_step = least[i % ARRAY_SIZE(least)];
		assert_int_equal(laqm_prob(params, UINT64_MAX, params->min_qlen_step - 1), 0);
		assert_int_equal(laqm_prob(params, UINT64_MAX, params->min_qlen_step), ALWAYS);
	}
}

/* Above the sure delay nothing changes, and below it something does. */
static void sure_delay(void **state)
{
	static const struct dualpi2_params none = { .step_ns = 0 };
	static const struct dualpi2_params *const rows[] = { &by_default, &ramp, &none };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u64 sure = laqm_sure_delay(rows[i]);

		assert_int_equal(laqm_prob(rows[i], sure + 1, MANY), ALWAYS);
		assert_true(!sure || laqm_prob(rows[i], sure - 1, MANY) < ALWAYS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_marks_what_is_above),
		cmocka_unit_test(step_in_packets),
		cmocka_unit_test(ramp_rises_from_800_to_1200_us),
		cmocka_unit_test(ramp_is_not_the_step),
		cmocka_unit_test(pair_is_left_alone),
		cmocka_unit_test(short_queue_is_left_alone),
		cmocka_unit_test(sure_delay),
	};

	return RUN_TESTS(tests);
}
