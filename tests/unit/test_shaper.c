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

/* Who waits for the link looks again when it is free, or soon: the rate may be another one by then.
 */
static void a_wait_is_not_longer_than_a_look(void **state)
{
	const uint64_t now = 100 * SEC;
	struct shaper s = { .free_ns = now + 3 * MSEC };

	(void)state;
	assert_int_equal(shaper_look(&s, now), now + 3 * MSEC);
	s.free_ns = now + 3600 * SEC;
	assert_int_equal(shaper_look(&s, now), now + SHAPER_LOOK_NS);
	shaper_restart(&s, now + SHAPER_LOOK_NS);
	assert_true(shaper_ready(&s, MBIT40, now + SHAPER_LOOK_NS));
}

/* What the link takes for an skb. The figures of a single packet are those of sch_cake
 * with the keywords of tc-cake(8): docsis is overhead 18 mpu 64, ethernet overhead 38 mpu 84.
 */
static void wire_length_by_framing(void **state)
{
	enum { ETHERNET = 14, NONE = 0, PPPOE = 22 }; /* bytes in front of the IP header */
	static const struct dualpi2_params
		raw = {},
		raw_mpu = { .overhead = 38, .mpu = 64 },
		network = { .framing = DUALPI2_FRAMING_NETWORK },
		docsis = { .framing = DUALPI2_FRAMING_NETWORK, .overhead = 18, .mpu = 64 },
		ethernet = { .framing = DUALPI2_FRAMING_NETWORK, .overhead = 38, .mpu = 84 },
		ptm = { .framing = DUALPI2_FRAMING_PTM, .overhead = 30 },
		ptm_mpu = { .framing = DUALPI2_FRAMING_PTM, .overhead = 30, .mpu = 128 },
		less = { .framing = DUALPI2_FRAMING_NETWORK, .overhead = -64 },
		less_mpu = { .framing = DUALPI2_FRAMING_NETWORK, .overhead = -64, .mpu = 20 },
		less_ptm = { .framing = DUALPI2_FRAMING_PTM, .overhead = -64 },
		most = { .framing = DUALPI2_FRAMING_PTM,
			 .overhead = DUALPI2_OVERHEAD_MAX,
			 .mpu = DUALPI2_MPU_MAX };
	static const struct {
		const struct dualpi2_params *params;
		__u32 len, packets, link_header, wire_len;
	} rows[] = {
		{ &raw, 1514, 1, ETHERNET, 1514 },
		{ &raw, 1, 1, ETHERNET, 1 },
		{ &raw, 68130, 45, ETHERNET, 68130 },
		{ &raw_mpu, 1514, 1, ETHERNET, 1514 }, /* the overhead is not used */
		{ &raw_mpu, 63, 1, ETHERNET, 64 },
		{ &raw_mpu, 65, 1, ETHERNET, 65 },
		{ &raw_mpu, 180, 3, ETHERNET, 192 },
		{ &network, 1514, 1, ETHERNET, 1500 },
		{ &network, 1514, 1, PPPOE, 1492 },
		{ &network, 1500, 1, NONE, 1500 },
		{ &network, 10, 1, ETHERNET, 0 }, /* shorter than its own header */
		{ &docsis, 1514, 1, ETHERNET, 1518 },
		{ &docsis, 60, 1, ETHERNET, 64 },
		{ &docsis, 61, 1, ETHERNET, 65 },
		{ &docsis, 42, 1, ETHERNET, 64 },
		{ &docsis, 45 * 1514, 45, ETHERNET, 45 * 1518 },
		{ &ethernet, 1514, 1, ETHERNET, 1538 },
		{ &ethernet, 60, 1, ETHERNET, 84 },
		{ &ethernet, 61, 1, ETHERNET, 85 },
		{ &ethernet, 1500, 1, NONE, 1538 },
		{ &ethernet, 1514, 1, PPPOE, 1530 },
		{ &ethernet, 3 * 42, 3, ETHERNET, 3 * 84 },
		{ &ethernet, 45 * 1514, 45, ETHERNET, 45 * 1538 },
		{ &ptm, 1514, 1, ETHERNET, 1530 + 24 }, /* 1530 / 64 = 23.9 */
		{ &ptm, 1514, 1, PPPOE, 1522 + 24 },	/* 23.8 */
		{ &ptm, 1500, 1, NONE, 1530 + 24 },
		{ &ptm, 47, 1, ETHERNET, 63 + 1 },
		{ &ptm, 48, 1, ETHERNET, 64 + 1 },
		{ &ptm, 49, 1, ETHERNET, 65 + 2 },
		{ &ptm, 45 * 1514, 45, ETHERNET, 45 * 1530 + 1076 }, /* 68850 / 64 = 1075.8 */
		{ &ptm_mpu, 60, 1, ETHERNET, 128 + 2 },		     /* the mpu comes first */
		{ &less, 1514, 1, ETHERNET, 1436 },
		{ &less, 79, 1, ETHERNET, 1 },
		{ &less, 78, 1, ETHERNET, 0 },
		{ &less, 60, 1, ETHERNET, 0 },
		{ &less, 2 * 1514, 2, ETHERNET, 2 * 1436 },
		{ &less_mpu, 60, 1, ETHERNET, 20 },
		{ &less_ptm, 60, 1, ETHERNET, 0 },
		{ &less_ptm, 79, 1, ETHERNET, 2 },
		/* the longest skb: 65535 packets of 50 + 256 bytes, and a 64th */
		{ &most, 65535 * 64, 65535, ETHERNET, 65535 * 306 + 313340 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u32 wire_len = shaper_wire_len(rows[i].params, rows[i].len, rows[i].packets,
						 rows[i].link_header);

		if (wire_len != rows[i].wire_len)
			print_error("row %zu\n", i);
		assert_int_equal(wire_len, rows[i].wire_len);
	}
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
		cmocka_unit_test(a_wait_is_not_longer_than_a_look),
		cmocka_unit_test(wire_length_by_framing),
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
