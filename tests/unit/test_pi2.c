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
	.prob_max = PI2_PROB_MAX,
};

/* Gains with which one ns of error is one 64th of a step of p'. */
static const struct pi2_law finest = {
	.target_ns = 1000,
	.alpha = 1,
	.beta = 1,
	.prob_max = PI2_PROB_MAX,
};

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
	assert_int_equal(pi2_next_prob(&native, 0, TARGET, TARGET), 0);
	assert_int_equal(pi2_next_prob(&native, 12345, TARGET, TARGET), 12345);
	assert_int_equal(pi2_next_prob(&native, PI2_PROB_MAX, TARGET, TARGET), PI2_PROB_MAX);
}

static void standing_error_moves_by_alpha(void **state)
{
	const __u32 step = MSEC * 44 / 64;

	(void)state;
	assert_int_equal(pi2_next_prob(&native, 0, 16 * MSEC, 16 * MSEC), step);
	assert_int_equal(pi2_next_prob(&native, MSEC, 14 * MSEC, 14 * MSEC), MSEC - step);
}

static void change_of_delay_moves_by_beta(void **state)
{
	const __u32 step = MSEC * 879 / 64;

	(void)state;
	assert_int_equal(pi2_next_prob(&native, 0, TARGET, TARGET - MSEC), step);
	assert_int_equal(pi2_next_prob(&native, step + 7, TARGET, TARGET + MSEC), 7);
}

/* Above target but falling: beta's part wins, p' goes down already. */
static void both_parts_add_up(void **state)
{
	(void)state;
	assert_int_equal(pi2_next_prob(&native, 1U << 30, 16 * MSEC, 17 * MSEC),
			 (1U << 30) - MSEC * (879 - 44) / 64);
	assert_int_equal(pi2_next_prob(&native, 1U << 30, 16 * MSEC, TARGET),
			 (1U << 30) + MSEC * (879 + 44) / 64);
}

static void saturates_at_both_ends(void **state)
{
	(void)state;
	assert_int_equal(pi2_next_prob(&native, PI2_PROB_MAX - 10, 16 * MSEC, 16 * MSEC),
			 PI2_PROB_MAX);
	assert_int_equal(pi2_next_prob(&native, 10, 14 * MSEC, 14 * MSEC), 0);
	assert_int_equal(pi2_next_prob(&finest, PI2_PROB_MAX - 1, 1064, 1064), PI2_PROB_MAX);
	assert_int_equal(pi2_next_prob(&finest, 1, 936, 936), 0);
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

		assert_int_equal(pi2_next_prob(&finest, 5000, above, above), 5000 + rows[i].step);
		assert_int_equal(pi2_next_prob(&finest, 5000, below, below), 5000 - rows[i].step);
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
	assert_int_equal(pi2_next_prob(&finest, 0, 1ULL << 62, 1ULL << 62), cut);
	assert_int_equal(pi2_next_prob(&far, cut + 5, 0, 0), 5);
	assert_int_equal(pi2_next_prob(&far, 0, 1ULL << 40, 0), cut);
	assert_int_equal(pi2_next_prob(&far, 2 * cut + 5, 0, 1ULL << 62), 5);
}

/* The sanitizer would report an overflow, the values a wrap. */
static void largest_gains_do_not_overflow(void **state)
{
	const __u32 gain = pi2_scale_gain(PI2_GAIN_MAX);
	const struct pi2_law largest = { .alpha = gain, .beta = gain, .prob_max = PI2_PROB_MAX };
	struct pi2_law far = largest;

	(void)state;
	far.target_ns = 1ULL << 62;
	assert_int_equal(pi2_next_prob(&largest, 0, 1ULL << 62, 0), PI2_PROB_MAX);
	assert_int_equal(pi2_next_prob(&largest, PI2_PROB_MAX, 1ULL << 62, 0), PI2_PROB_MAX);
	assert_int_equal(pi2_next_prob(&far, PI2_PROB_MAX, 0, 1ULL << 62), 0);
	assert_int_equal(pi2_next_prob(&far, 0, 0, 1ULL << 62), 0);
}

static struct pi2_law law_of(__u8 coupling, __u32 p_cmax, bool overflow)
{
	struct pi2_law law = native;

	pi2_set_overload(&law, coupling, p_cmax, overflow);
	return law;
}

/* A p' that was higher when the end of its range was lowered comes down at the next
 * update, and what that update takes off is taken from the new end.
 */
static void lowered_end_is_in_force_at_once(void **state)
{
	const __u32 step = MSEC * 44 / 64, end = 0x7fffffff;
	const struct pi2_law law = law_of(2, 0, true);

	(void)state;
	assert_int_equal(law.prob_max, end);
	assert_int_equal(pi2_next_prob(&law, PI2_PROB_MAX, TARGET, TARGET), end);
	assert_int_equal(pi2_next_prob(&law, PI2_PROB_MAX, 16 * MSEC, 16 * MSEC), end);
	assert_int_equal(pi2_next_prob(&law, PI2_PROB_MAX, 14 * MSEC, 14 * MSEC), end - step);
	assert_int_equal(pi2_next_prob(&law, end + 1U, 14 * MSEC, 14 * MSEC), end - step);
	assert_int_equal(pi2_next_prob(&law, end - step, 16 * MSEC, 16 * MSEC), end);
	assert_int_equal(pi2_next_prob(&law, end - step - 1, 16 * MSEC, 16 * MSEC), end - 1);
	assert_int_equal(pi2_next_prob(&law, end - step + 1, 16 * MSEC, 16 * MSEC), end);
}

static void coupled_prob_does_not_wrap(void **state)
{
	(void)state;
	assert_true(pi2_coupled_prob(3, 2) == 6);
	assert_true(pi2_coupled_prob(PI2_PROB_MAX, 255) == 255ULL * PI2_PROB_MAX);
}

static void classic_prob_is_squared(void **state)
{
	(void)state;
	assert_int_equal(pi2_classic_prob(0), 0);
	assert_int_equal(pi2_classic_prob(0x80000000), 0x40000000);
	assert_int_equal(pi2_classic_prob(0x10000), 1);
	assert_int_equal(pi2_classic_prob(PI2_PROB_MAX), PI2_PROB_MAX - 1);
}

/* Equation (1): p_C = (p_L / k)^2, both divisions cut. */
static void classic_of_is_equation_1(void **state)
{
	static const struct {
		__u32 p_l;
		__u8 coupling;
		__u32 p_c;
	} rows[] = {
		{ 0, 1, 0 },
		{ 0x80000000, 1, 0x40000000 }, /* a half, squared */
		{ PI2_PROB_MAX, 1, PI2_PROB_MAX - 1 },
		{ 0x20000, 2, 1 },
		{ 0x1ffff, 2, 0 },
		{ 0x80000000, 2, 0x10000000 },	 /* (1/2 / 2)^2 = 1/16 */
		{ PI2_PROB_MAX, 2, 0x3fffffff }, /* (2^31 - 1)^2 = 2^62 - 2^32 + 1 */
		{ PI2_PROB_MAX, 3, 477218588 },	 /* 2^32 / 9 = 477218588.4, less 2/9 */
		{ PI2_PROB_MAX, 255, 0x10203 },	 /* 0x01010101^2 = 0x1020304030201 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(pi2_classic_of(rows[i].p_l, rows[i].coupling), rows[i].p_c);
}

/* With p_Cmax left alone: L from k * p' = 1 on, C from p' = 1/k on. The figures are
 * the first p' of each. Those of C may be a little lower, where p_C is the same
 * when cut to 2^-32: p_C = 0x10203 begins at sqrt(66051 * 2^32) = 16843007.002.
 */
static void overload_begins_at_1_of_k(void **state)
{
	static const struct {
		__u8 coupling;
		__u32 p_cmax, l_begin, c_begin;
	} rows[] = {
		{ 1, 0xfffffffe, 0xffffffff, 0xffffffff },
		{ 2, 0x40000000, 0x80000000, 0x80000000 },
		{ 3, 477218588, 0x55555555, 0x55555555 },
		{ 4, 0x10000000, 0x40000000, 0x40000000 },
		{ 255, 0x10203, 16843008, 16843008 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pi2_law law = law_of(rows[i].coupling, 0, false);

		assert_int_equal(law.coupling, rows[i].coupling);
		assert_int_equal(law.prob_max, PI2_PROB_MAX);
		assert_int_equal(law.p_lmax, PI2_PROB_MAX);
		assert_int_equal(law.p_cmax, rows[i].p_cmax);
		assert_false(pi2_l_overloaded(&law, 0));
		assert_false(pi2_c_overloaded(&law, 0));
		assert_false(pi2_l_overloaded(&law, rows[i].l_begin - 1));
		assert_true(pi2_l_overloaded(&law, rows[i].l_begin));
		assert_false(pi2_c_overloaded(&law, rows[i].c_begin - 1));
		assert_true(pi2_c_overloaded(&law, rows[i].c_begin));
		assert_true(pi2_l_overloaded(&law, PI2_PROB_MAX));
		assert_true(pi2_c_overloaded(&law, PI2_PROB_MAX));
	}
}

/* p_Cmax by hand. Below 1/k^2 both queues drop from there on, above it L begins when
 * p_CL is 1. 2^32 - 1 stands for 1, which p_C reaches when p' is at its end.
 */
static void overload_begins_at_p_cmax(void **state)
{
	static const struct {
		__u8 coupling;
		__u32 p_cmax, l_begin, c_begin;
	} rows[] = {
		{ 2, 1, 0x10000, 0x10000 },
		{ 2, 0x10000000, 0x40000000, 0x40000000 }, /* 1/16: p' = 1/4, p_CL = 1/2 */
		{ 2, 0x40000000, 0x80000000, 0x80000000 },
		{ 4, 0x40000000, 0x40000000, 0x80000000 }, /* 1/4: L at 1/4, C at 1/2 */
		{ 255, 0x40000000, 0x01010101, 0x80000000 },
		{ 1, PI2_PROB_MAX - 1, PI2_PROB_MAX, PI2_PROB_MAX },
		{ 1, PI2_PROB_MAX, PI2_PROB_MAX, PI2_PROB_MAX },
		{ 2, PI2_PROB_MAX, 0x80000000, PI2_PROB_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pi2_law law = law_of(rows[i].coupling, rows[i].p_cmax, false);

		assert_false(pi2_l_overloaded(&law, rows[i].l_begin - 1));
		assert_true(pi2_l_overloaded(&law, rows[i].l_begin));
		assert_false(pi2_c_overloaded(&law, rows[i].c_begin - 1));
		assert_true(pi2_c_overloaded(&law, rows[i].c_begin));
	}
}

/* p' ends at 1/k, and neither queue is ever overloaded: not there, and not at a higher p'
 * that is left from before the option was set. What p_Cmax says does not count.
 */
static void overflow_is_never_overload(void **state)
{
	static const struct {
		__u8 coupling;
		__u32 end;
	} rows[] = {
		{ 1, PI2_PROB_MAX }, { 2, 0x7fffffff }, { 3, 0x55555555 }, { 255, 0x01010101 }
	};
	static const __u32 p_cmaxes[] = { 0, 1, PI2_PROB_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(p_cmaxes); i++) {
		const __u32 end = rows[i % ARRAY_SIZE(rows)].end;
		const __u8 coupling = rows[i % ARRAY_SIZE(rows)].coupling;
		const struct pi2_law law = law_of(coupling, p_cmaxes[i / ARRAY_SIZE(rows)], true);

		assert_int_equal(law.coupling, coupling);
		assert_int_equal(law.prob_max, end);
		assert_int_equal(pi2_next_prob(&law, end - 1, 16 * MSEC, 16 * MSEC), end);
		assert_false(pi2_l_overloaded(&law, end));
		assert_false(pi2_c_overloaded(&law, end));
		assert_false(pi2_l_overloaded(&law, PI2_PROB_MAX));
		assert_false(pi2_c_overloaded(&law, PI2_PROB_MAX));
		assert_false(pi2_saturated(&law, end - 1));
		assert_true(pi2_saturated(&law, end));
		assert_true(pi2_saturated(&law, PI2_PROB_MAX));
	}
}

/* The first queue that drops is enough. */
static void saturated_when_a_queue_is_overloaded(void **state)
{
	const struct pi2_law by_l = law_of(4, 0x40000000, false), by_c = law_of(2, 1, false);

	(void)state;
	assert_false(pi2_saturated(&by_l, 0));
	assert_false(pi2_saturated(&by_l, 0x3fffffff));
	assert_true(pi2_saturated(&by_l, 0x40000000));
	assert_false(pi2_saturated(&by_c, 0xffff));
	assert_true(pi2_saturated(&by_c, 0x10000));
}

/* A quarter: every fourth one, beginning with the fourth. */
static void recurs_at_even_distances(void **state)
{
	__u64 quarter = 1ULL << 30, count = 0;

	(void)state;
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(pi2_recurs(count, quarter), i % 4 == 0);
		count += quarter;
	}
	assert_false(pi2_recurs(PI2_PROB_MAX, 0));
	assert_true(pi2_recurs(PI2_PROB_MAX, 1));
	assert_true(pi2_recurs(0, 2ULL * PI2_PROB_MAX)); /* overload: always */
	assert_true(pi2_recurs(~0ULL, 1));		 /* the count may wrap */
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
		cmocka_unit_test(coupled_prob_does_not_wrap),
		cmocka_unit_test(classic_prob_is_squared),
		cmocka_unit_test(classic_of_is_equation_1),
		cmocka_unit_test(overload_begins_at_1_of_k),
		cmocka_unit_test(overload_begins_at_p_cmax),
		cmocka_unit_test(overflow_is_never_overload),
		cmocka_unit_test(saturated_when_a_queue_is_overloaded),
		cmocka_unit_test(recurs_at_even_distances),
	};

	return RUN_TESTS(tests);
}
