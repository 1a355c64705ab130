// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bench's matching of packets before and after the bottleneck (bench/guest/match.h). */
#include "unit.h"

#include <netinet/in.h>
#include <string.h>

#include "match.h"

#define MSEC 1000000ULL
#define ECT1 1
#define ECT0 2
#define CE 3

static const struct packet segment = {
	.ns = 100 * MSEC,
	.source = 0x0a010065,
	.destination = 0x0a020065,
	.source_port = 40000,
	.destination_port = 5201,
	.id = 7,
	.segments = 1,
	.protocol = IPPROTO_TCP,
	.ecn = ECT1,
	.len = 1514,
	.headers = 66,
	.sequence = 1000,
};

static struct packet later(struct packet packet, uint64_t ns)
{
	packet.ns += ns;
	return packet;
}

static int with_matcher(void **state)
{
	*state = matcher_new(0);
	return *state ? matcher_begin_phase(*state, "loaded", 1) - 1 : -1;
}

static int without_matcher(void **state)
{
	matcher_free(*state);
	return 0;
}

#define MATCHER_TEST(name) TEST_WITH(name, with_matcher, without_matcher)

/* What was seen of the first stream in the first phase that was named. */
static const struct phase_figures *figures_of(void **state)
{
	size_t count;
	const struct stream *stream = matcher_streams(*state, &count);

	assert_int_equal(count, 1);
	return &stream->phase[1];
}

static void assert_delays(const struct class_figures *figures, uint64_t count, uint64_t ns)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < DELAY_BUCKETS; i++)
		seen += figures->delay[i];
	assert_int_equal(seen, count);
	assert_int_equal(figures->delay[delay_bucket(ns)], count);
	assert_int_equal(figures->delay_sum_ns, count * ns);
	assert_int_equal(figures->delay_max_ns, ns);
}

MATCHER_TEST(a_packet_has_its_delay)
{
	struct packet out = later(segment, 3 * MSEC);
	const struct phase_figures *figures;

	matcher_arrival(*state, &segment);
	matcher_departure(*state, &out);
	figures = figures_of(state);
	assert_delays(&figures->class[CLASS_L], 1, 3 * MSEC);
	assert_int_equal(figures->payload_bytes, 1448);
	assert_int_equal(matcher_unmatched(*state), 0);
}

MATCHER_TEST(a_mark_is_seen_and_counts_for_the_class_of_arrival)
{
	struct packet out = later(segment, MSEC);
	const struct phase_figures *figures;

	out.ecn = CE;
	matcher_arrival(*state, &segment);
	matcher_departure(*state, &out);
	figures = figures_of(state);
	assert_int_equal(figures->arrived[ECT1], 1);
	assert_int_equal(figures->left[ECT1], 1);
	assert_int_equal(figures->marked[ECT1], 1);
	assert_int_equal(figures->left[CE], 0);
}

MATCHER_TEST(a_gso_packet_is_found_again_in_its_segments)
{
	struct packet whole = segment, part = later(segment, 2 * MSEC);
	const struct phase_figures *figures;

	whole.gso_size = 1448;
	whole.segments = 3;
	whole.len = 66 + 3 * 1448 - 100; /* the last one is shorter */
	matcher_arrival(*state, &whole);
	for (uint16_t i = 0; i < 3; i++) {
		part.id = (uint16_t)(whole.id + i);
		part.sequence = whole.sequence + i * 1448U;
		matcher_departure(*state, &part);
	}
	figures = figures_of(state);
	assert_delays(&figures->class[CLASS_L], 3, 2 * MSEC);
	assert_int_equal(figures->arrived[ECT1], 3);
	assert_int_equal(figures->largest_before, whole.len);
	assert_int_equal(figures->largest_after, 1514);
	assert_int_equal(matcher_unmatched(*state), 0);
}

MATCHER_TEST(a_gso_packet_that_leaves_whole_counts_as_its_segments)
{
	struct packet whole = segment, out;
	const struct phase_figures *figures;

	whole.gso_size = 1448;
	whole.segments = 3;
	whole.len = 66 + 3 * 1448;
	whole.id = 0xffff; /* the next ones are 0, which is not looked for, and 1 */
	out = later(whole, MSEC);
	matcher_arrival(*state, &whole);
	matcher_departure(*state, &out);
	figures = figures_of(state);
	assert_delays(&figures->class[CLASS_L], 2, MSEC);
	assert_int_equal(figures->payload_bytes, 3 * 1448);
	assert_int_equal(figures->frame_bytes, whole.len);
	assert_int_equal(figures->largest_after, whole.len);
}

MATCHER_TEST(a_retransmission_is_not_taken_for_the_lost_packet)
{
	struct packet again = later(segment, 50 * MSEC), out;

	again.id++;
	out = later(again, MSEC);
	matcher_arrival(*state, &segment);
	matcher_arrival(*state, &again);
	matcher_departure(*state, &out);
	assert_delays(&figures_of(state)->class[CLASS_L], 1, MSEC);
	assert_int_equal(figures_of(state)->arrived[ECT1], 2);
	assert_int_equal(figures_of(state)->left[ECT1], 1);
}

MATCHER_TEST(an_identification_that_comes_round_again_is_the_new_packet)
{
	struct packet next = later(segment, 900 * MSEC), out;

	next.sequence += 1448;
	out = later(next, MSEC);
	matcher_arrival(*state, &segment); /* is dropped */
	matcher_arrival(*state, &next);
	matcher_departure(*state, &out);
	assert_delays(&figures_of(state)->class[CLASS_L], 1, MSEC);
	assert_int_equal(matcher_unmatched(*state), 0);
}

/* Two SYN-ACKs under way: they count in bytes, and nothing is missed. */
MATCHER_TEST(packets_without_a_connection_are_not_told_apart)
{
	const struct phase_figures *figures;
	struct packet first = segment, gso = segment;

	first.id = 0;
	gso.id = 65535;
	gso.segments = 2;
	gso.gso_size = 1448;
	matcher_arrival(*state, &first);
	matcher_arrival(*state, &first);
	matcher_departure(*state, &first);
	matcher_departure(*state, &first);
	matcher_arrival(*state, &gso);
	matcher_departure(*state, &gso);
	assert_int_equal(matcher_unmatched(*state), 0);
	figures = figures_of(state);
	assert_int_equal(figures->arrived[ECT1], 1);
	assert_int_equal(figures->left[ECT1], 1);
	assert_int_equal(figures->frame_bytes, 3 * 1514);
}

MATCHER_TEST(another_sequence_number_is_no_match)
{
	struct packet out = later(segment, MSEC);

	out.sequence++;
	matcher_arrival(*state, &segment);
	matcher_departure(*state, &out);
	assert_int_equal(matcher_unmatched(*state), 1);
	assert_int_equal(figures_of(state)->left[ECT1], 0);
}

MATCHER_TEST(a_packet_that_nobody_saw_arrive_is_no_match)
{
	matcher_departure(*state, &segment);
	assert_int_equal(matcher_unmatched(*state), 1);
}

MATCHER_TEST(reordering_is_counted_within_a_connection)
{
	struct packet first = segment, second = later(segment, 1), other = later(segment, 2);

	second.id++;
	second.sequence += 1448;
	other.source_port++;
	matcher_arrival(*state, &first);
	matcher_arrival(*state, &second);
	matcher_arrival(*state, &other);
	first = later(first, 2 * MSEC);
	second = later(second, MSEC);
	other = later(other, MSEC);
	matcher_departure(*state, &other);
	matcher_departure(*state, &second);
	matcher_departure(*state, &first);
	assert_int_equal(figures_of(state)->reordered, 1);
}

MATCHER_TEST(a_packet_belongs_to_the_phase_of_its_arrival)
{
	struct packet out = later(segment, 2 * MSEC);
	size_t count;

	matcher_arrival(*state, &segment);
	assert_true(matcher_begin_phase(*state, "next", segment.ns + MSEC));
	matcher_departure(*state, &out);
	assert_int_equal(figures_of(state)->left[ECT1], 1);
	assert_int_equal(matcher_streams(*state, &count)->phase[2].left[ECT1], 0);
	/* but what the link carries counts when it does */
	assert_int_equal(figures_of(state)->payload_bytes, 0);
	assert_int_equal(matcher_streams(*state, &count)->phase[2].payload_bytes, 1448);
}

MATCHER_TEST(phases_are_bounded)
{
	for (int i = 2; i < MATCH_PHASES; i++)
		assert_true(matcher_begin_phase(*state, "more", 1));
	assert_false(matcher_begin_phase(*state, "too many", 1));
}

/* Every place of the table is used, all packets but the dropped ones are found again. */
MATCHER_TEST(many_packets_are_under_way)
{
	enum { PACKETS = 20000 };
	struct packet in = segment, out;

	for (int i = 1; i <= PACKETS; i++) {
		in.id = (uint16_t)i;
		in.sequence = (uint32_t)i;
		matcher_arrival(*state, &in);
	}
	for (int i = 1; i <= PACKETS; i += 2) {
		out = later(in, MSEC);
		out.id = (uint16_t)i;
		out.sequence = (uint32_t)i;
		matcher_departure(*state, &out);
	}
	assert_delays(&figures_of(state)->class[CLASS_L], PACKETS / 2, MSEC);
	assert_int_equal(matcher_unmatched(*state), 0);
}

/* Packets that were dropped never leave, and would fill every table. */
MATCHER_TEST(dropped_packets_make_way)
{
	enum { DROPPED = 2000000 };
	struct packet in = segment, out;

	for (int i = 0; i < DROPPED; i++) {
		in.ns++;
		in.id = (uint16_t)i;
		in.source_port = (uint16_t)(i >> 16);
		matcher_arrival(*state, &in);
	}
	out = later(in, MSEC);
	matcher_departure(*state, &out);
	assert_delays(&figures_of(state)->class[CLASS_L], 1, MSEC);
	assert_int_equal(matcher_unmatched(*state), 0);
}

TEST(buckets_have_no_gaps_and_are_narrow)
{
	for (uint32_t i = 0; i < DELAY_BUCKETS; i++) {
		uint64_t low = delay_edge(i), high = delay_edge(i + 1);

		assert_true(low < high);
		assert_int_equal(delay_bucket(low), i);
		assert_int_equal(delay_bucket(high - 1), i);
		assert_true(high - low <= 1 + low / DELAY_SUBS);
	}
	assert_int_equal(delay_bucket(UINT64_MAX), DELAY_BUCKETS - 1);
}

/* Ethernet, IPv4, TCP: 14 + 20 + 32 bytes. */
static const uint8_t tcp_frame[66] = {
	[12] = 0x08, [13] = 0x00,	 [14] = 0x45, [15] = 0x02, [18] = 0x12,
	[19] = 0x34, [23] = IPPROTO_TCP, [26] = 10,   [27] = 1,	   [29] = 101,
	[30] = 10,   [31] = 2,		 [33] = 101,  [34] = 0x9c, [35] = 0x40,
	[36] = 0x14, [37] = 0x51,	 [41] = 9,    [46] = 0x80,
};

TEST(a_tcp_frame_is_read)
{
	struct packet packet = { .len = 66 + 5000, .gso_size = 1448 };

	assert_true(packet_parse(tcp_frame, sizeof(tcp_frame), &packet));
	assert_int_equal(packet.source, 0x0a010065);
	assert_int_equal(packet.destination, 0x0a020065);
	assert_int_equal(packet.source_port, 40000);
	assert_int_equal(packet.destination_port, 5201);
	assert_int_equal(packet.id, 0x1234);
	assert_int_equal(packet.ecn, ECT0);
	assert_int_equal(packet.sequence, 9);
	assert_int_equal(packet.headers, 66);
	assert_int_equal(packet.segments, 4);
}

TEST(a_cut_or_foreign_frame_is_refused)
{
	uint8_t frame[sizeof(tcp_frame)];
	struct packet packet = { .len = 66 };

	for (size_t captured = 0; captured < 54; captured++)
		assert_false(packet_parse(tcp_frame, captured, &packet));
	memcpy(frame, tcp_frame, sizeof(frame));
	frame[14] = 0x65;
	assert_false(packet_parse(frame, sizeof(frame), &packet));
	memcpy(frame, tcp_frame, sizeof(frame));
	frame[23] = IPPROTO_SCTP;
	assert_false(packet_parse(frame, sizeof(frame), &packet));
}
