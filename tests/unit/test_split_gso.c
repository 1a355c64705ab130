// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which GSO packets are split: include/split_gso.h. */
#include "unit.h"

#include "split_gso.h"

#define MSEC 1000000ULL
#define MBIT (1000000ULL / 8) /* bytes/s */
#define FRAME 1514U
#define ETHERNET 14U /* bytes in front of the IP header */

static void a_quarter_of_the_threshold_at_the_rate(void **state)
{
	static const struct {
		struct dualpi2_params params;
		uint64_t rate, bytes;
	} rows[] = {
		{ { .step_ns = MSEC }, 100 * MBIT, 3125 },
		{ { .step_ns = MSEC }, 1000 * MBIT, 31250 },
		{ { .step_ns = MSEC }, 2500 * MBIT, 78125 },
		{ { .step_ns = 4 * MSEC }, 40 * MBIT, 5000 },
		{ { .step_ns = MSEC, .l_aqm = DUALPI2_L_RAMP }, 1000 * MBIT, 25000 },
		/* the step is not in force, in whatever unit */
		{ { .step_in_packets = 1, .step_packets = 8, .l_aqm = DUALPI2_L_RAMP },
		  1000 * MBIT,
		  25000 },
		/* rounded down: a byte takes 8 ns, and 2 ns */
		{ { .step_ns = 4 * 7 }, 1000 * MBIT, 0 },
		{ { .step_ns = 4 * 8 }, 1000 * MBIT, 1 },
		{ { .step_ns = 4 * 15 }, 1000 * MBIT, 1 },
		/* all are split */
		{ { .step_ns = MSEC }, 0, 0 },
		{ { .step_ns = 0 }, 1000 * MBIT, 0 },
		{ { .step_ns = MSEC }, DUALPI2_RATE_MIN, 0 },
		/* none is */
		{ { .step_ns = DUALPI2_TIME_MAX }, DUALPI2_RATE_MAX, UINT32_MAX },
		{ { .step_ns = DUALPI2_TIME_MAX }, UINT32_MAX * MBIT, UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(gso_split_above(&rows[i].params, rows[i].rate, FRAME, ETHERNET),
				 rows[i].bytes);
}

static void a_threshold_in_packets_needs_no_rate(void **state)
{
	struct dualpi2_params params = { .step_in_packets = 1, .step_packets = 5 };

	(void)state;
	assert_int_equal(gso_split_above(&params, 0, FRAME, ETHERNET), 5 * FRAME / 4);
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, FRAME, ETHERNET), 5 * FRAME / 4);
	params.step_packets = 0;
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, FRAME, ETHERNET), 0);
	params.step_packets = UINT32_MAX;
	assert_int_equal(gso_split_above(&params, 0, FRAME, ETHERNET),
			 (uint64_t)UINT32_MAX * FRAME / 4);
}

/* 31250 bytes on the link are fewer of the qdisc layer's, or more. */
static void frames_are_those_of_the_link(void **state)
{
	struct dualpi2_params params = { .step_ns = MSEC,
					 .framing = DUALPI2_FRAMING_NETWORK,
					 .overhead = 38 };

	(void)state;
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, FRAME, ETHERNET),
			 31250 * FRAME / 1538);
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, 1500, 0), 31250 * 1500 / 1538);
	params.overhead = DUALPI2_OVERHEAD_MIN;
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, FRAME, ETHERNET),
			 31250 * FRAME / 1436);
	assert_int_equal(gso_split_above(&params, 1000 * MBIT, ETHERNET, ETHERNET),
			 31250 * ETHERNET); /* a device without an MTU: a frame takes nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_of_the_threshold_at_the_rate),
		cmocka_unit_test(a_threshold_in_packets_needs_no_rate),
		cmocka_unit_test(frames_are_those_of_the_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
