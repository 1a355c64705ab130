// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The scheduler of include/scheduler.h: single decisions, and long runs. */
#include "unit.h"

#include <stdlib.h>

#include "scheduler.h"

#define FRAME 1514U
#define PACKETS 100000

static void first_credit_is_one_frame(void **state)
{
	(void)state;
	assert_int_equal(scheduler_reset(10, FRAME), -80 * (int)FRAME);
	assert_int_equal(scheduler_reset(50, FRAME), 0);
	assert_int_equal(scheduler_reset(90, FRAME), 80 * (int)FRAME);
	assert_int_equal(scheduler_reset(0, FRAME), -100 * (int)FRAME);
	assert_int_equal(scheduler_reset(100, FRAME), 100 * (int)FRAME);
}

static void frame_length_is_cut(void **state)
{
	(void)state;
	assert_int_equal(scheduler_reset(100, 1U << 20), 100 << 20);
	assert_int_equal(scheduler_reset(100, (1U << 20) + 1), 100 << 20);
	assert_int_equal(scheduler_reset(0, UINT32_MAX), -(100 << 20));
}

static void l_goes_first_until_c_has_credit(void **state)
{
	(void)state;
	assert_true(scheduler_serves_l(scheduler_reset(10, FRAME), true, true));
	assert_true(scheduler_serves_l(0, true, true));
	assert_false(scheduler_serves_l(1, true, true));
}

static void a_queue_alone_is_served_whatever_the_credit(void **state)
{
	(void)state;
	for (int credit = -1; credit <= 1; credit++) {
		assert_true(scheduler_serves_l(credit * 1000000, true, false));
		assert_false(scheduler_serves_l(credit * 1000000, false, true));
	}
}

static void charge_by_weight_and_length(void **state)
{
	(void)state;
	assert_int_equal(scheduler_charge(-1000, 10, true, 64), -1000 + 64 * 10);
	assert_int_equal(scheduler_charge(1000, 10, false, 64), 1000 - 64 * 90);
	assert_int_equal(scheduler_charge(5, 0, true, FRAME), 5);
	assert_int_equal(scheduler_charge(5, 100, false, FRAME), 5);
}

struct run {
	int wc;
	int credit;
	uint64_t l_bytes, c_bytes;
};

static struct run run_start(int wc)
{
	return (struct run){ .wc = wc, .credit = scheduler_reset(wc, FRAME) };
}

/* One turn as dequeue takes it: only what is contested is charged. */
static void run_serve(struct run *run, uint32_t l_len, uint32_t c_len)
{
	bool from_l = scheduler_serves_l(run->credit, l_len, c_len);
	uint32_t len = from_l ? l_len : c_len;

	*(from_l ? &run->l_bytes : &run->c_bytes) += len;
	if (l_len && c_len)
		run->credit = scheduler_charge(run->credit, run->wc, from_l, len);
}

/* Frames of both queues in all sizes: C gets its share to within the start's one
 * frame and the last one.
 */
static void c_gets_its_share(void **state)
{
	static const int shares[] = { 0, 1, 10, 50, 90, 100 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		struct run run = run_start(shares[i]);
		uint64_t total = 0;

		srand(1);
		while (total < (uint64_t)PACKETS * FRAME / 2) {
			uint64_t fair;

			run_serve(&run, 60 + rand() % (FRAME - 59), 60 + rand() % (FRAME - 59));
			total = run.l_bytes + run.c_bytes;
			fair = total * shares[i] / 100;
			assert_in_range(run.c_bytes + 2 * FRAME, fair, fair + 4 * FRAME);
		}
		if (shares[i] == 0)
			assert_int_equal(run.c_bytes, 0);
		if (shares[i] == 100)
			assert_int_equal(run.l_bytes, 0);
	}
}

/* Full frames only, at 10 %: nine of L, then one of C. */
static void every_tenth_frame_is_classic(void **state)
{
	struct run run = run_start(10);

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(run.c_bytes, i / 10 * FRAME);
		run_serve(&run, FRAME, FRAME);
	}
}

static void credit_is_bounded(void **state)
{
	(void)state;
	for (int wc = 0; wc <= 100; wc++) {
		struct run run = run_start(wc);
		int bound = abs(run.credit);

		if (bound < 100 * (int)FRAME)
			bound = 100 * (int)FRAME;
		srand(wc);
		for (int i = 0; i < 2000; i++) {
			run_serve(&run, rand() % FRAME, rand() % FRAME);
			assert_true(abs(run.credit) <= bound);
		}
	}
}

/* C had the link for itself for long: L is not made to wait for that, nor repaid. */
static void a_packet_served_alone_costs_nothing(void **state)
{
	struct run run = run_start(10);
	int credit = run.credit;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		run_serve(&run, 0, FRAME);
		run_serve(&run, FRAME, 0);
	}
	assert_int_equal(run.credit, credit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_credit_is_one_frame),
		cmocka_unit_test(frame_length_is_cut),
		cmocka_unit_test(l_goes_first_until_c_has_credit),
		cmocka_unit_test(a_queue_alone_is_served_whatever_the_credit),
		cmocka_unit_test(charge_by_weight_and_length),
		cmocka_unit_test(c_gets_its_share),
		cmocka_unit_test(every_tenth_frame_is_classic),
		cmocka_unit_test(credit_is_bounded),
		cmocka_unit_test(a_packet_served_alone_costs_nothing),
	};

	return RUN_TESTS(tests);
}
