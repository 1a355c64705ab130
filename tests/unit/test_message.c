// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which failures are reported, and with which exit status (cli/message.h). */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#undef fail /* that of cmocka */
#include "cli/message.h"

/* What goes to stderr during a test. */
static FILE *own_stderr;
static char *text;
static size_t size;

static int begin(void **state)
{
	(void)state;
	message_init("test");
	own_stderr = stderr;
	stderr = open_memstream(&text, &size);
	message_begin();
	return !stderr;
}

static int end(void **state)
{
	(void)state;
	fclose(stderr);
	stderr = own_stderr;
	free(text);
	return 0;
}

static void expect(const char *wanted)
{
	fflush(stderr);
	assert_string_equal(text, wanted);
}

TEST_WITH(the_first_failure_counts, begin, end)
{
	assert_false(message_reported());
	assert_false(fail(0, "eth0: the cause"));
	assert_true(message_reported());
	assert_false(fail_usage("eth0: what follows from it"));
	assert_int_equal(message_status(), STATUS_FAILURE);
	expect("test: eth0: the cause\n");
}

/* As in a service that keeps several interfaces. */
TEST_WITH(a_failure_belongs_to_an_action, begin, end)
{
	fail_usage("eth0: cannot have that");
	fail(0, "eth0: not undone");
	assert_int_equal(message_status(), STATUS_USAGE);

	message_begin(); /* of eth1, which succeeds */
	assert_false(message_reported());

	message_begin();
	fail(ENODEV, "eth2: is gone");
	fail_usage("eth2: what follows from it");
	assert_int_equal(message_status(), STATUS_FAILURE);
	expect("test: eth0: cannot have that\ntest: eth2: is gone\n");
}

TEST_WITH(a_step_is_no_failure, begin, end)
{
	verbose("a step");
	assert_false(message_reported());
	expect("");
}

TEST_WITH(the_first_line_of_all_is_held, begin, end)
{
	message_hold();
	fail(0, "the first");
	message_begin();
	fail(0, "the first of another action");
	expect("");
	message_release();
	expect("test: the first\n");
}
