// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The shaper of include/shaper.h: its clock against exact arithmetic, and what it
 * lets out after an idle time or a late timer.
 */
#include "unit.h"

#include <stdlib.h>

#include "shaper.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL
#define MBIT40 5000000ULL /* bytes/s: a frame of 1500 bytes takes 300 us */
#define FRAME 1500U

typedef unsigned __int128 wide;

/* The time that `bytes` take, cut to whole ns. */
static uint64_t time_of(uint64_t bytes, uint64_t rate)
{
	return (wide)bytes * SEC / rate;
}

/* Send what may leave at `now`; how many frames. */
static int send_burst(struct shaper *s, uint64_t rate, uint64_t now)
{
	int sent = 0;

	for (; shaper_ready(s, rate, now) && sent < 100; sent++)
		shaper_charge(s, rate, now, FRAME);
	return sent;
}

/* After every packet of a busy link the clock is right to the ns, so the rate is
 * right to the byte over any interval.
 */
static void exact_at_odd_rates(void **state)
{
	static const uint64_t rates[] = { 1,	   3,	   125,	      12345,	  999983,
					  4999999, MBIT40, 999999937, 1250000000, 125000000000 };
	const uint64_t start = 5 * MSEC;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct shaper s = {};
		uint64_t bytes = 0;

		srand(1);
		shaper_wake(&s, start);
		for (int n = 0; n < 20000; n++) {
			uint32_t len = 1 + rand() % 9000;

			assert_true(
				shaper_ready(&s, rates[i], s.free_ns > start ? s.free_ns : start));
			shaper_charge(&s, rates[i], s.free_ns, len);
			bytes += len;
			assert_int_equal(s.free_ns, start + time_of(bytes, rates[i]));
			assert_true(s.remainder < rates[i]);
		}
	}
}

static void longest_packet_does_not_overflow(void **state)
{
	struct shaper s = {};

	(void)state;
	shaper_charge(&s, 1, 0, UINT32_MAX);
	assert_int_equal(s.free_ns, UINT32_MAX * SEC);
}

static void not_ready_before_the_link_is_free(void **state)
{
	struct shaper s = {};

	(void)state;
	shaper_wake(&s, SEC);
	assert_true(shaper_ready(&s, MBIT40, SEC));
	shaper_charge(&s, MBIT40, SEC, FRAME);
	assert_false(shaper_ready(&s, MBIT40, SEC));
	assert_false(shaper_ready(&s, MBIT40, SEC + 299999));
	assert_true(shaper_ready(&s, MBIT40, SEC + 300000));
}

/* A tenth of a second idle is worth no credit: one frame leaves, not hundreds. */
static void no_burst_after_idle(void **state)
{
	struct shaper s = {};

	(void)state;
	shaper_wake(&s, SEC);
	send_burst(&s, MBIT40, SEC);
	shaper_wake(&s, SEC + 100 * MSEC);
	assert_int_equal(send_burst(&s, MBIT40, SEC + 100 * MSEC), 1);
	assert_int_equal(s.free_ns, SEC + 100 * MSEC + 300000);
}

/* The time a wake-up finds unused is not carried over in part either. */
static void idle_time_forgets_the_remainder(void **state)
{
	struct shaper s = { .free_ns = 10, .remainder = 2 };

	(void)state;
	shaper_wake(&s, SEC);
	assert_int_equal(s.free_ns, SEC);
	assert_int_equal(s.remainder, 0);
}

/* The queue ran empty, but the last packet is still on the wire. */
static void a_new_packet_does_not_jump_the_line(void **state)
{
	struct shaper s = {};

	(void)state;
	shaper_wake(&s, SEC);
	shaper_charge(&s, 7, SEC, 10);
	shaper_wake(&s, SEC + 1000);
	assert_int_equal(s.free_ns, SEC + time_of(10, 7));
	assert_int_equal(s.remainder, 10 * SEC % 7);
	assert_false(shaper_ready(&s, 7, SEC + 1000));
}

/* A timer that is late by less than the slack loses no time. */
static void short_delay_is_made_up(void **state)
{
	struct shaper s = {};
	uint64_t late = SEC + 300000 + SHAPER_SLACK_NS;

	(void)state;
	shaper_wake(&s, SEC);
	shaper_charge(&s, MBIT40, SEC, FRAME);
	assert_int_equal(send_burst(&s, MBIT40, late), 4);
	assert_int_equal(s.free_ns, SEC + 5 * 300000);
}

/* One that is later: what the slack holds (3 frames and a third) and the frame
 * that is due, however late it is.
 */
static void catching_up_is_bounded(void **state)
{
	static const uint64_t delays[] = { SHAPER_SLACK_NS + 1, 2 * MSEC, 10 * MSEC, SEC };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(delays); i++) {
		struct shaper s = { .free_ns = SEC, .remainder = 1 };

		assert_int_equal(send_burst(&s, MBIT40, SEC + delays[i]), 4);
		assert_int_equal(s.free_ns, SEC + delays[i] - SHAPER_SLACK_NS + 4 * 300000);
		assert_int_equal(s.remainder, 0);
	}
}

/* A monotonic clock that has just started. */
static void early_clock_does_not_underflow(void **state)
{
	struct shaper s = {};

	(void)state;
	shaper_charge(&s, MBIT40, SHAPER_SLACK_NS / 2, FRAME);
	assert_int_equal(s.free_ns, 300000);
}

static void rate_0_is_not_shaped(void **state)
{
	struct shaper s = { .free_ns = SEC, .remainder = 5 };

	(void)state;
	assert_int_equal(send_burst(&s, 0, 0), 100);
	assert_int_equal(s.free_ns, SEC);
	assert_int_equal(s.remainder, 5);
}

/* The rest of the packet on the wire, and the bytes in front. */
static void wait_behind_bytes(void **state)
{
	const struct shaper s = { .free_ns = SEC };

	(void)state;
	assert_int_equal(shaper_wait(&s, MBIT40, SEC, 0), 0);
	assert_int_equal(shaper_wait(&s, MBIT40, SEC + MSEC, 0), 0);
	assert_int_equal(shaper_wait(&s, MBIT40, SEC - 7, 0), 7);
	assert_int_equal(shaper_wait(&s, MBIT40, SEC - 7, FRAME), 300007);
	assert_int_equal(shaper_wait(&s, MBIT40, SEC + MSEC, 2 * FRAME), 600000);
	assert_int_equal(shaper_wait(&s, 1, SEC, (1ULL << 33) - 1), ((1ULL << 33) - 1) * SEC);
	assert_int_equal(shaper_wait(&s, 0, 0, FRAME), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_at_odd_rates),
		cmocka_unit_test(longest_packet_does_not_overflow),
		cmocka_unit_test(not_ready_before_the_link_is_free),
		cmocka_unit_test(no_burst_after_idle),
		cmocka_unit_test(idle_time_forgets_the_remainder),
		cmocka_unit_test(a_new_packet_does_not_jump_the_line),
		cmocka_unit_test(short_delay_is_made_up),
		cmocka_unit_test(catching_up_is_bounded),
		cmocka_unit_test(early_clock_does_not_underflow),
		cmocka_unit_test(rate_0_is_not_shaped),
		cmocka_unit_test(wait_behind_bytes),
	};

	return RUN_TESTS(tests);
}
