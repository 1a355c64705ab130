// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What happened between two samples (sample/interval.c), and what is said of it (show/diagnosis.c).
 */
#include "unit.h"

#include <errno.h>
#include <linux/pkt_sched.h>

#include "cli/format.h"
#include "sample/sample.h"
#include "show/show.h"

#define MSEC DUALPI2_NSEC_PER_MSEC
#define SEC DUALPI2_NSEC_PER_SEC

/* A qdisc at the root of eth0, as it is after `seconds`. */
static struct sample sample_at(unsigned int seconds)
{
	return (struct sample){
		.aqm = aqm_default(),
		.key = { .ifindex = 1, .parent = TC_H_ROOT },
		.ifname = "eth0",
		.total.taken_ns = seconds * SEC,
		.total.stats.handle = 0x80020000,
		.total.stats.refreshed_ns = seconds * SEC,
		.total.stats.params = DUALPI2_DEFAULT_PARAMS,
		.total.stats.updates = 60 * seconds,
		.tcx_attached = true,
	};
}

static void forward(struct dualpi2_queue *queue, struct dualpi2_histogram *histogram, __u64 packets,
		    __u64 delay_ns)
{
	__u32 octave = 0;

	queue->counters.packets_in += packets;
	queue->counters.packets_out += packets;
	queue->counters.bytes_in += 1000 * packets;
	queue->counters.bytes_out += 1000 * packets;
	for (__u64 i = 0; i < packets; i++)
		histogram_record(histogram, delay_ns, &octave);
}

static struct sample after(const struct sample *earlier, unsigned int seconds)
{
	struct sample later = *earlier;

	later.total.taken_ns += seconds * SEC;
	later.total.stats.refreshed_ns += seconds * SEC;
	later.total.stats.updates += 60 * seconds;
	return later;
}

static struct figures between(const struct sample *earlier, const struct sample *later)
{
	struct figures interval;

	assert_true(interval_between(earlier, later, &interval));
	return interval;
}

TEST(counters_and_delays_are_differences)
{
	struct sample earlier = sample_at(10), later;
	struct figures interval;

	forward(&earlier.total.stats.l, &earlier.total.delays.l, 5, 40 * MSEC);
	earlier.total.stats.l.counters.drop_limit = 3;
	later = after(&earlier, 2);
	forward(&later.total.stats.l, &later.total.delays.l, 100, 2 * MSEC);
	later.total.stats.l.counters.drop_limit = 7;
	interval = between(&earlier, &later);
	assert_int_equal(interval.span_ns, 2 * SEC);
	assert_int_equal(interval.stats.l.counters.packets_out, 100);
	assert_int_equal(interval.stats.l.counters.drop_limit, 4);
	assert_int_equal(interval.delays.l.sum_ns, 200 * MSEC);
	assert_int_equal(histogram_count(&interval.delays.l), 100);
	assert_true(interval_rate(&interval, interval.stats.l.counters.bytes_out) == 50000);
	assert_int_equal(interval.stats.updates, 120);
}

/* One that was higher before tells nothing of the interval: its highest bin does. */
TEST(highest_delay_is_of_the_interval)
{
	struct sample earlier = sample_at(10), later;
	struct figures interval;

	forward(&earlier.total.stats.c, &earlier.total.delays.c, 1, 40 * MSEC);
	later = after(&earlier, 1);
	forward(&later.total.stats.c, &later.total.delays.c, 1, 5 * MSEC);
	interval = between(&earlier, &later);
	assert_int_equal(histogram_index(interval.delays.c.max_ns), histogram_index(5 * MSEC));
	forward(&later.total.stats.c, &later.total.delays.c, 1, 41 * MSEC);
	interval = between(&earlier, &later);
	assert_int_equal(interval.delays.c.max_ns, 41 * MSEC);
}

TEST(another_qdisc_has_no_interval_with_this_one)
{
	struct sample earlier = sample_at(10), later;
	struct figures interval;

	forward(&earlier.total.stats.c, &earlier.total.delays.c, 10, MSEC);
	assert_false(interval_between(&earlier, &earlier, &interval)); /* no time between them */
	later = after(&earlier, 1);
	later.key.parent = 0x80010001;
	assert_false(interval_between(&earlier, &later, &interval));
	later = after(&earlier, 1); /* of the same handle, and it has counted more */
	later.identity++;
	assert_false(interval_between(&earlier, &later, &interval));
}

/* A copy that is some packets older. */
TEST(counters_never_go_below_zero)
{
	struct sample earlier = sample_at(10), later;
	struct figures interval;

	forward(&earlier.total.stats.c, &earlier.total.delays.c, 10, MSEC);
	later = sample_at(11);
	forward(&later.total.stats.c, &later.total.delays.c, 9, MSEC);
	interval = between(&earlier, &later);
	assert_int_equal(interval.stats.c.counters.packets_in, 0);
	assert_int_equal(histogram_count(&interval.delays.c), 0);
	assert_int_equal(interval.delays.c.sum_ns, 0);
}

TEST(empty_is_what_no_packet_waited)
{
	struct sample earlier = sample_at(10), later = after(&earlier, 1);
	struct figures interval;

	interval = between(&earlier, &later);
	assert_true(interval_empty(&interval) == 1);
	forward(&later.total.stats.l, &later.total.delays.l, 10, 10 * MSEC);
	forward(&later.total.stats.c, &later.total.delays.c, 10, 20 * MSEC);
	interval = between(&earlier, &later);
	assert_true(interval_empty(&interval) > 0.699 && interval_empty(&interval) < 0.701);
	later.total.stats.c.head_age_ns = 500 * MSEC; /* it waits still */
	interval = between(&earlier, &later);
	assert_true(interval_empty(&interval) > 0.199 && interval_empty(&interval) < 0.201);
	later.total.stats.c.counters.drop_aqm++;
	interval = between(&earlier, &later);
	assert_true(interval_empty(&interval) == 0);
}

TEST(lists_are_matched_by_place)
{
	struct sample one = sample_at(10), other = sample_at(10);
	struct sample before[2], now[2];
	const struct samples earlier = { before, 2 };
	struct samples later = { now, 2 };

	other.key.ifindex = 2;
	before[0] = one;
	before[1] = other;
	now[0] = after(&other, 1);
	now[1] = after(&one, 3);
	now[1].key.ifindex = 3; /* new */
	interval_since(&earlier, &later);
	assert_int_equal(now[0].recent.span_ns, SEC);
	assert_int_equal(now[1].recent.span_ns, 0);
	for (size_t place = 0; place < 3; place++) {
		assert_ptr_equal(interval_find(&earlier, &one, place), &before[0]);
		assert_ptr_equal(interval_find(&earlier, &other, place), &before[1]);
	}
	assert_null(interval_find(&earlier, &now[1], 0));
}

/* ---- words ---------------------------------------------------------------------------- */

/* What happened in a minute; and what is said of it. */
static const struct {
	const char *brief;
	enum condition condition;
	const char *said;
	__u64 l_packets, l_delay_ns, c_packets, c_delay_ns;
	__u64 marks, drops, waiting, bypassed_tcx, redirected, rate;
	__u32 p_c, overload;
	bool without_tcx, is_sum;
	struct strays strays;
} minutes[] = {
	{ .brief = "no packets", .said = "no packets in the last minute" },
	{ .brief = "no queue here",
	  .condition = CONDITION_ATTENTION,
	  .said = "not the bottleneck: the queue was empty for at least 98 % of the last minute",
	  .c_packets = 1000,
	  .c_delay_ns = MSEC },
	{ .brief = "little used",
	  .said = "133kbit of 40mbit used: the queue was empty for at least 98 % of the last minute",
	  .c_packets = 1000,
	  .c_delay_ns = MSEC,
	  .rate = 5000000 },
	{ .brief = "no queue here",
	  .condition = CONDITION_ATTENTION,
	  .said = "13.3mbit of 40mbit used: the queue was empty for at least 99 % of the last "
		  "minute",
	  .c_packets = 100000,
	  .c_delay_ns = MSEC / 1000,
	  .rate = 5000000 },
	{ .brief = "the bottleneck",
	  .said = "the bottleneck: 99 % of the packets wait up to 15.2ms; no L4S traffic",
	  .c_packets = 10000,
	  .c_delay_ns = 15 * MSEC + MSEC / 5,
	  .drops = 1 },
	{ .brief = "the bottleneck",
	  .said = "the bottleneck: 99 % of the packets wait up to 4.98ms; L4S traffic only",
	  .l_packets = 10000,
	  .l_delay_ns = 5 * MSEC,
	  .marks = 1 },
	{ .brief = "short queue",
	  .said = "nothing had to be marked: 99 % of the L4S packets wait up to 4.98ms, of "
		  "the Classic ones 8.00ms",
	  .l_packets = 10000,
	  .l_delay_ns = 5 * MSEC,
	  .c_packets = 1000,
	  .c_delay_ns = 8 * MSEC },
	{ .brief = "overload",
	  .condition = CONDITION_ATTENTION,
	  .said = "overload for 2.00s: senders do not react to marks, so 25 % of the packets are "
		  "dropped, in both queues",
	  .l_packets = 10000,
	  .l_delay_ns = 5 * MSEC,
	  .p_c = 1U << 30,
	  .overload = 2 },
	{ .brief = "no tcx program",
	  .condition = CONDITION_BROKEN,
	  .said = "nothing is marked: our tcx program is not attached; `dualpi2-load eth0` attaches "
		  "it",
	  .p_c = 1U << 30,
	  .overload = 2,
	  .without_tcx = true },
	{ .brief = "overload",
	  .condition = CONDITION_ATTENTION,
	  .said = "overload in a queue: senders do not react to marks",
	  .l_packets = 10000,
	  .l_delay_ns = 5 * MSEC,
	  .overload = 2,
	  .is_sum = true },
	/* Our shaper, full: no queue is no wonder then. */
	{ .brief = "short queue",
	  .said = "nothing had to be marked: 99 % of the packets wait up to 1.00ms; no L4S traffic",
	  .c_packets = 1000,
	  .c_delay_ns = MSEC,
	  .rate = 18000 },
	{ .brief = "nothing leaves",
	  .condition = CONDITION_BROKEN,
	  .said = "nothing leaves: 7 packets have waited throughout the last minute",
	  .waiting = 7 },
	{ .brief = "tcx bypassed",
	  .condition = CONDITION_ATTENTION,
	  .said = "5.00 % of the packets did not pass our tcx program: they cannot be marked, only "
		  "dropped",
	  .c_packets = 10000,
	  .c_delay_ns = 15 * MSEC,
	  .bypassed_tcx = 500 },
	{ .brief = "guard at work",
	  .condition = CONDITION_ATTENTION,
	  .said = "the guard keeps flows that made the L4S queue long out of it: 30.0 % of the "
		  "packets",
	  .c_packets = 10000,
	  .c_delay_ns = 15 * MSEC,
	  .redirected = 3000 },
	{ .brief = "queue bypassed",
	  .condition = CONDITION_BROKEN,
	  .said = "queue 8001:2 has pfifo in place of bpf_dualpi2, so what comes to it bypasses "
		  "the AQM and the rate: `dualpi2-load --check eth0` says what helps",
	  .is_sum = true,
	  .strays = { 1, 0x80010002, "pfifo" },
	  .overload = 10 },
	{ .brief = "queue bypassed",
	  .condition = CONDITION_BROKEN,
	  .said = "queue 8001:2 (and 3 more) has pfifo in place of bpf_dualpi2, so what comes to "
		  "it bypasses the AQM and the rate: `dualpi2-load --check eth0` says what helps",
	  .is_sum = true,
	  .strays = { 4, 0x80010002, "pfifo" } },
};

TEST(sentences)
{
	struct diagnosis diagnosis;

	for (size_t i = 0; i < ARRAY_SIZE(minutes); i++) {
		struct sample earlier = sample_at(10), later;
		struct figures interval;

		earlier.total.stats.params.rate = minutes[i].rate;
		later = after(&earlier, 60);
		forward(&later.total.stats.l, &later.total.delays.l, minutes[i].l_packets,
			minutes[i].l_delay_ns);
		forward(&later.total.stats.c, &later.total.delays.c, minutes[i].c_packets,
			minutes[i].c_delay_ns);
		later.total.stats.l.counters.mark_coupled = minutes[i].marks;
		later.total.stats.c.counters.drop_aqm = minutes[i].drops;
		later.total.stats.c.backlog_packets = minutes[i].waiting;
		later.total.stats.bypassed_tcx = minutes[i].bypassed_tcx;
		later.total.stats.redirected = minutes[i].redirected;
		later.total.stats.levels.p_c = minutes[i].p_c;
		later.total.stats.overload.active = minutes[i].overload != 0;
		later.total.stats.overload.duration_ns = minutes[i].overload * SEC;
		later.tcx_attached = !minutes[i].without_tcx;
		interval = between(&earlier, &later);
		later.is_sum = minutes[i].is_sum;
		later.strays = minutes[i].strays;
		diagnose(&later, &interval, &diagnosis);
		assert_string_equal(diagnosis.words, minutes[i].said);
		assert_string_equal(diagnosis.brief, minutes[i].brief);
		assert_int_equal(diagnosis.condition, minutes[i].condition);
		assert_true(strlen(diagnosis.brief) <= 14);
	}
}

static void assert_said(const struct sample *sample, const struct figures *interval,
			const char *words)
{
	struct diagnosis diagnosis;

	diagnose(sample, interval, &diagnosis);
	assert_string_equal(diagnosis.words, words);
}

/* They arrived before the first sample. */
TEST(packets_that_only_leave_are_traffic)
{
	struct sample earlier = sample_at(10), later;
	struct figures interval;

	later = after(&earlier, 60);
	forward(&later.total.stats.c, &later.total.delays.c, 100, SEC);
	later.total.stats.c.counters.packets_in = 0;
	interval = between(&earlier, &later);
	assert_said(&later, &interval,
		    "nothing had to be marked: 99 % of the packets wait up to 973ms; "
		    "no L4S traffic");
}

TEST(other_times_than_a_minute)
{
	struct sample earlier = sample_at(10), later = after(&earlier, 5);
	struct figures interval;

	interval = between(&earlier, &later);
	assert_said(&later, &interval, "no packets in the last 5.00s");
}

static const char *doubtful(const struct dualpi2_params *params)
{
	(void)params;
	return "its parameters do not fit";
}

static bool describing(const struct dualpi2_stats *stats, char *text, size_t size)
{
	(void)stats;
	snprintf(text, size, "as the AQM has it");
	return true;
}

/* What an AQM has to say comes before what p' says; its doubts, before that. */
TEST(words_of_an_aqm)
{
	struct sample earlier = sample_at(10), later = after(&earlier, 60);
	struct figures interval;
	struct aqm aqm = *aqm_default();

	aqm.describe = describing;
	earlier.aqm = &aqm;
	forward(&later.total.stats.c, &later.total.delays.c, 1000, MSEC);
	later.aqm = &aqm;
	interval = between(&earlier, &later);
	assert_said(&later, &interval, "as the AQM has it");
	aqm.doubt = doubtful;
	assert_said(&later, &interval, "its parameters do not fit");
	aqm.doubt = NULL;
	later.is_sum = true; /* each queue has its own */
	assert_said(&later, &interval,
		    "not the bottleneck: the queue was empty for at least 98 % of the "
		    "last minute");
}

/* Somebody without rights cannot know whether the tcx program is attached. */
TEST(what_is_unknown_is_not_said)
{
	struct sample earlier = sample_at(10), later = after(&earlier, 60);
	struct figures interval;

	later.tcx_attached = -EPERM;
	interval = between(&earlier, &later);
	assert_said(&later, &interval, "no packets in the last minute");
}

static int line_of(const char *text, size_t width, const char *rest)
{
	int length;

	assert_string_equal(format_line(text, width, &length), rest);
	return length;
}

TEST(lines_end_at_blanks)
{
	assert_int_equal(line_of("some words", 80, ""), 10);
	assert_int_equal(line_of("some words", 0, ""), 10);
	assert_int_equal(line_of("some words", 10, ""), 10);
	assert_int_equal(line_of("some words", 9, "words"), 4);
	assert_int_equal(line_of("some words", 4, "words"), 4);
	assert_int_equal(line_of("unbroken", 4, ""), 8);
	assert_int_equal(line_of("unbroken word", 4, "word"), 8);
}
