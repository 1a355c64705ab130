/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test includes first: cmocka and the headers it wants before it. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif /* UNIT_H */
