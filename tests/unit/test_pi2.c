// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The control law of include/pi2.h, against figures worked out by hand. */
#include "unit.h"

#include "pi2.h"

#define MSEC 1000000ULL
#define TARGET (15 * MSEC)

/* alpha = 41/256 Hz and beta = 819/256 Hz in units of 2^-32 per 64 ns. */
static const struct pi2_law native = {
	.target_ns = TARGET,
	.alpha = 44,
	.beta = 879,
};

/* Gains with which one ns of error is one 64th of a step of p'. */
static const struct pi2_law finest = {
	.target_ns = 1000,
	.alpha = 1,
	.beta = 1,
};

static __u32 next_prob(const struct pi2_law *law, __u32 prob, __u64 delay_ns, __u64 last_delay_ns)
{
	return pi2_next_prob(law, prob, PROB_MAX, delay_ns, last_delay_ns);
}

/* sch_dualpi2 computes (gain * (2^32 - 1) >> 2) / 10^9 and keeps 44 and 879. */
static void default_gains_are_native(void **state)
{
	(void)state;
	assert_int_equal(pi2_scale_gain(41), 44);
	assert_int_equal(pi2_scale_gain(819), 879);
}

static void extreme_gains_keep_their_value(void **state)
{
	(void)state;
	assert_int_equal(pi2_scale_gain(1), 1);
	/* (2^23 - 1) / 256 * 2^32 / 10^9 * 64, cut off */
	assert_int_equal(pi2_scale_gain(PI2_GAIN_MAX), 9007198);
}

static void rests_at_target(void **state)
{
	(void)state;
	assert_int_equal(next_prob(&native, 0, TARGET, TARGET), 0);
	assert_int_equal(next_prob(&native, 12345, TARGET, TARGET), 12345);
	assert_int_equal(next_prob(&native, PROB_MAX, TARGET, TARGET), PROB_MAX);
}

static void standing_error_moves_by_alpha(void **state)
{
	const __u32 step = MSEC * 44 / 64;

	(void)state;
	assert_int_equal(next_prob(&native, 0, 16 * MSEC, 16 * MSEC), step);
	assert_int_equal(next_prob(&native, MSEC, 14 * MSEC, 14 * MSEC), MSEC - step);
}

static void change_of_delay_moves_by_beta(void **state)
{
	const __u32 step = MSEC * 879 / 64;

	(void)state;
	assert_int_equal(next_prob(&native, 0, TARGET, TARGET - MSEC), step);
	assert_int_equal(next_prob(&native, step + 7, TARGET, TARGET + MSEC), 7);
}

/* Above target but falling: beta's part wins, p' goes down already. */
static void both_parts_add_up(void **state)
{
	(void)state;
	assert_int_equal(next_prob(&native, 1U << 30, 16 * MSEC, 17 * MSEC),
			 (1U << 30) - MSEC * (879 - 44) / 64);
	assert_int_equal(next_prob(&native, 1U << 30, 16 * MSEC, TARGET),
			 (1U << 30) + MSEC * (879 + 44) / 64);
}

static void saturates_at_both_ends(void **state)
{
	(void)state;
	assert_int_equal(next_prob(&native, PROB_MAX - 10, 16 * MSEC, 16 * MSEC), PROB_MAX);
	assert_int_equal(next_prob(&native, 10, 14 * MSEC, 14 * MSEC), 0);
	assert_int_equal(next_prob(&finest, PROB_MAX - 1, 1064, 1064), PROB_MAX);
	assert_int_equal(next_prob(&finest, 1, 936, 936), 0);
}

/* A step below one unit is lost on either side, so p' does not drift. */
static void rounds_alike_up_and_down(void **state)
{
	static const struct {
		__u64 error;
		__u32 step;
	} rows[] = { { 63, 0 }, { 64, 1 }, { 127, 1 }, { 128, 2 }, { 959, 14 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u64 above = 1000 + rows[i].error, below = 1000 - rows[i].error;

		assert_int_equal(next_prob(&finest, 5000, above, above), 5000 + rows[i].step);
		assert_int_equal(next_prob(&finest, 5000, below, below), 5000 - rows[i].step);
	}
}

static void delays_are_cut(void **state)
{
	const __u32 cut = 1U << 26; /* 2^32 ns in units of 64 ns */
	struct pi2_law far = finest;

	(void)state;
	far.target_ns = 1ULL << 40;
	assert_int_equal(pi2_clamp_delay(1LL << 32), 1LL << 32);
	assert_int_equal(pi2_clamp_delay((1LL << 32) + 1), 1LL << 32);
	assert_int_equal(pi2_clamp_delay(-(1LL << 32) - 1), -(1LL << 32));
	assert_int_equal(pi2_clamp_delay(-(1LL << 32) + 1), -(1LL << 32) + 1);
	assert_int_equal(next_prob(&finest, 0, 1ULL << 62, 1ULL << 62), cut);
	assert_int_equal(next_prob(&far, cut + 5, 0, 0), 5);
	assert_int_equal(next_prob(&far, 0, 1ULL << 40, 0), cut);
	assert_int_equal(next_prob(&far, 2 * cut + 5, 0, 1ULL << 62), 5);
}

/* The sanitizer would report an overflow, the values a wrap. */
static void largest_gains_do_not_overflow(void **state)
{
	const __u32 gain = pi2_scale_gain(PI2_GAIN_MAX);
	const struct pi2_law largest = { .alpha = gain, .beta = gain };
	struct pi2_law far = largest;

	(void)state;
	far.target_ns = 1ULL << 62;
	assert_int_equal(next_prob(&largest, 0, 1ULL << 62, 0), PROB_MAX);
	assert_int_equal(next_prob(&largest, PROB_MAX, 1ULL << 62, 0), PROB_MAX);
	assert_int_equal(next_prob(&far, PROB_MAX, 0, 1ULL << 62), 0);
	assert_int_equal(next_prob(&far, 0, 0, 1ULL << 62), 0);
}

/* A p' that was higher when the end of its range was lowered comes down at the next
 * update, and what that update takes off is taken from the new end.
 */
static void lowered_end_is_in_force_at_once(void **state)
{
	const __u32 step = MSEC * 44 / 64, end = 0x7fffffff;

	(void)state;
	assert_int_equal(pi2_next_prob(&native, PROB_MAX, end, TARGET, TARGET), end);
	assert_int_equal(pi2_next_prob(&native, PROB_MAX, end, 16 * MSEC, 16 * MSEC), end);
	assert_int_equal(pi2_next_prob(&native, PROB_MAX, end, 14 * MSEC, 14 * MSEC), end - step);
	assert_int_equal(pi2_next_prob(&native, end + 1U, end, 14 * MSEC, 14 * MSEC), end - step);
	assert_int_equal(pi2_next_prob(&native, end - step, end, 16 * MSEC, 16 * MSEC), end);
	assert_int_equal(pi2_next_prob(&native, end - step - 1, end, 16 * MSEC, 16 * MSEC),
			 end - 1);
	assert_int_equal(pi2_next_prob(&native, end - step + 1, end, 16 * MSEC, 16 * MSEC), end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_gains_are_native),
		cmocka_unit_test(extreme_gains_keep_their_value),
		cmocka_unit_test(rests_at_target),
		cmocka_unit_test(standing_error_moves_by_alpha),
		cmocka_unit_test(change_of_delay_moves_by_beta),
		cmocka_unit_test(both_parts_add_up),
		cmocka_unit_test(saturates_at_both_ends),
		cmocka_unit_test(rounds_alike_up_and_down),
		cmocka_unit_test(delays_are_cut),
		cmocka_unit_test(largest_gains_do_not_overflow),
		cmocka_unit_test(lowered_end_is_in_force_at_once),
	};

	return RUN_TESTS(tests);
}
