// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The coupling of the queues, include/coupling.h, against figures worked out by hand. */
#include "unit.h"

#include "coupling.h"

static void coupled_prob_does_not_wrap(void **state)
{
	(void)state;
	assert_true(coupling_p_cl(3, 2) == 6);
	assert_true(coupling_p_cl(PROB_MAX, 255) == 255ULL * PROB_MAX);
}

static void classic_prob_is_squared(void **state)
{
	(void)state;
	assert_int_equal(coupling_p_c(0), 0);
	assert_int_equal(coupling_p_c(0x80000000), 0x40000000);
	assert_int_equal(coupling_p_c(0x10000), 1);
	assert_int_equal(coupling_p_c(PROB_MAX), PROB_MAX - 1);
}

/* Equation (1): p_C = (p_L / k)^2, both divisions cut. */
static void classic_of_is_equation_1(void **state)
{
	static const struct {
		__u32 p_l;
		__u8 k;
		__u32 p_c;
	} rows[] = {
		{ 0, 1, 0 },
		{ 0x80000000, 1, 0x40000000 }, /* a half, squared */
		{ PROB_MAX, 1, PROB_MAX - 1 },
		{ 0x20000, 2, 1 },
		{ 0x1ffff, 2, 0 },
		{ 0x80000000, 2, 0x10000000 }, /* (1/2 / 2)^2 = 1/16 */
		{ PROB_MAX, 2, 0x3fffffff },   /* (2^31 - 1)^2 = 2^62 - 2^32 + 1 */
		{ PROB_MAX, 3, 477218588 },    /* 2^32 / 9 = 477218588.4, less 2/9 */
		{ PROB_MAX, 255, 0x10203 },    /* 0x01010101^2 = 0x1020304030201 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(coupling_classic_of(rows[i].p_l, rows[i].k), rows[i].p_c);
}

/* With p_Cmax left alone: L from k * p' = 1 on, C from p' = 1/k on. The figures are
 * the first p' of each. Those of C may be a little lower, where p_C is the same
 * when cut to 2^-32: p_C = 0x10203 begins at sqrt(66051 * 2^32) = 16843007.002.
 */
static void overload_begins_at_1_of_k(void **state)
{
	static const struct {
		__u8 k;
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
		const struct coupling coupling = coupling_make(rows[i].k, 0, false);

		assert_int_equal(coupling.k, rows[i].k);
		assert_int_equal(coupling.prob_max, PROB_MAX);
		assert_int_equal(coupling.p_lmax, PROB_MAX);
		assert_int_equal(coupling.p_cmax, rows[i].p_cmax);
		assert_false(coupling_l_overloaded(&coupling, 0));
		assert_false(coupling_c_overloaded(&coupling, 0));
		assert_false(coupling_l_overloaded(&coupling, rows[i].l_begin - 1));
		assert_true(coupling_l_overloaded(&coupling, rows[i].l_begin));
		assert_false(coupling_c_overloaded(&coupling, rows[i].c_begin - 1));
		assert_true(coupling_c_overloaded(&coupling, rows[i].c_begin));
		assert_true(coupling_l_overloaded(&coupling, PROB_MAX));
		assert_true(coupling_c_overloaded(&coupling, PROB_MAX));
	}
}

/* p_Cmax by hand. Below 1/k^2 both queues drop from there on, above it L begins when
 * p_CL is 1. 2^32 - 1 stands for 1, which p_C reaches when p' is at its end.
 */
static void overload_begins_at_p_cmax(void **state)
{
	static const struct {
		__u8 k;
		__u32 p_cmax, l_begin, c_begin;
	} rows[] = {
		{ 2, 1, 0x10000, 0x10000 },
		{ 2, 0x10000000, 0x40000000, 0x40000000 }, /* 1/16: p' = 1/4, p_CL = 1/2 */
		{ 2, 0x40000000, 0x80000000, 0x80000000 },
		{ 4, 0x40000000, 0x40000000, 0x80000000 }, /* 1/4: L at 1/4, C at 1/2 */
		{ 255, 0x40000000, 0x01010101, 0x80000000 },
		{ 1, PROB_MAX - 1, PROB_MAX, PROB_MAX },
		{ 1, PROB_MAX, PROB_MAX, PROB_MAX },
		{ 2, PROB_MAX, 0x80000000, PROB_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct coupling coupling = coupling_make(rows[i].k, rows[i].p_cmax, false);

		assert_false(coupling_l_overloaded(&coupling, rows[i].l_begin - 1));
		assert_true(coupling_l_overloaded(&coupling, rows[i].l_begin));
		assert_false(coupling_c_overloaded(&coupling, rows[i].c_begin - 1));
		assert_true(coupling_c_overloaded(&coupling, rows[i].c_begin));
	}
}

/* p' ends at 1/k, and neither queue is ever overloaded: not there, and not at a higher p'
 * that is left from before the option was set. What p_Cmax says does not count.
 */
static void overflow_is_never_overload(void **state)
{
	static const struct {
		__u8 k;
		__u32 end;
	} rows[] = { { 1, PROB_MAX }, { 2, 0x7fffffff }, { 3, 0x55555555 }, { 255, 0x01010101 } };
	static const __u32 p_cmaxes[] = { 0, 1, PROB_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(p_cmaxes); i++) {
		const __u32 end = rows[i % ARRAY_SIZE(rows)].end;
		const __u8 k = rows[i % ARRAY_SIZE(rows)].k;
		const struct coupling coupling =
			coupling_make(k, p_cmaxes[i / ARRAY_SIZE(rows)], true);

		assert_int_equal(coupling.k, k);
		assert_int_equal(coupling.prob_max, end);
		assert_false(coupling_l_overloaded(&coupling, end));
		assert_false(coupling_c_overloaded(&coupling, end));
		assert_false(coupling_l_overloaded(&coupling, PROB_MAX));
		assert_false(coupling_c_overloaded(&coupling, PROB_MAX));
		assert_false(coupling_saturated(&coupling, end - 1));
		assert_true(coupling_saturated(&coupling, end));
		assert_true(coupling_saturated(&coupling, PROB_MAX));
	}
}

/* The first queue that drops is enough. */
static void saturated_when_a_queue_is_overloaded(void **state)
{
	const struct coupling by_l = coupling_make(4, 0x40000000, false);
	const struct coupling by_c = coupling_make(2, 1, false);

	(void)state;
	assert_false(coupling_saturated(&by_l, 0));
	assert_false(coupling_saturated(&by_l, 0x3fffffff));
	assert_true(coupling_saturated(&by_l, 0x40000000));
	assert_false(coupling_saturated(&by_c, 0xffff));
	assert_true(coupling_saturated(&by_c, 0x10000));
}

/* A quarter: every fourth one, beginning with the fourth. */
static void recurs_at_even_distances(void **state)
{
	__u64 quarter = 1ULL << 30, count = 0;

	(void)state;
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(coupling_recurs(count, quarter), i % 4 == 0);
		count += quarter;
	}
	assert_false(coupling_recurs(PROB_MAX, 0));
	assert_true(coupling_recurs(PROB_MAX, 1));
	assert_true(coupling_recurs(0, 2ULL * PROB_MAX)); /* overload: always */
	assert_true(coupling_recurs(~0ULL, 1));		  /* the count may wrap */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
