/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test includes first: cmocka and the headers it wants before it, and main(), which
 * runs each TEST() of the file.
 */
#ifndef UNIT_H
#define UNIT_H

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static struct CMUnitTest unit_tests[64];
static size_t n_unit_tests;

/* TEST(what_is_so) { ... }, in the order of the file. `setup` leaves something in *state. */
#define TEST_WITH(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		assert(n_unit_tests < ARRAY_SIZE(unit_tests));                                     \
		unit_tests[n_unit_tests++] =                                                       \
			(struct CMUnitTest)cmocka_unit_test_setup_teardown(name, setup, teardown); \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

int main(void)
{
	assert(n_unit_tests);
	return _cmocka_run_group_tests("tests", unit_tests, n_unit_tests, NULL, NULL);
}

#endif /* UNIT_H */
