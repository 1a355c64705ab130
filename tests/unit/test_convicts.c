// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whom the guard keeps out of L (sample/convicts.c), as the maps have it, and what a flow is called
 * (show/flow_text.c). There are no maps: a file stands for the one that is seen through mmap(2),
 * and the function of libbpf that would read the other is here.
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sample/clock.h"
#include "sample/convicts.h"
#include "show/flow_text.h"

#define MSEC DUALPI2_NSEC_PER_MSEC
#define SEC DUALPI2_NSEC_PER_SEC
#define ROOM_NS (250 * MSEC)
#define SINCE_NS 77
#define NUMBER 5

#define CONVICTIONS_FD 1000

static int flows_fd = -1;
static struct dualpi2_flow *flows;
static struct dualpi2_conviction convictions[DUALPI2_CONVICTIONS];
static int lookup_error;

int bpf_map_lookup_batch(int map, void *from, void *last, void *places, void *values, __u32 *count,
			 const struct bpf_map_batch_opts *options)
{
	(void)from;
	(void)last;
	(void)options;
	assert_int_equal(map, CONVICTIONS_FD);
	assert_int_equal(*count, DUALPI2_CONVICTIONS);
	memset(places, 0, *count * sizeof(__u32));
	if (lookup_error == -ENOENT)
		memcpy(values, convictions, sizeof(convictions));
	return lookup_error;
}

static int start(void **state)
{
	const size_t size = DUALPI2_FLOWS * sizeof(*flows);

	(void)state;
	if (flows_fd < 0)
		flows_fd = memfd_create("flows", 0);
	flows = flows ?: mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, flows_fd, 0);
	if (flows == MAP_FAILED || ftruncate(flows_fd, (off_t)size))
		return -1;
	memset(flows, 0, size);
	memset(convictions, 0, sizeof(convictions));
	lookup_error = -ENOENT; /* the end of the map */
	return 0;
}

#define GUARD_TEST(name) TEST_WITH(name, start, NULL)

static struct sample guarded_sample(void)
{
	return (struct sample){
		.aqm = aqm_default(),
		.key = { .netns = 9, .ifindex = 1, .parent = TC_H_ROOT },
		.ifname = "eth0",
		.total.stats.number = NUMBER,
		.total.stats.since_ns = SINCE_NS,
		.total.stats.params.guard = 1,
		.total.stats.guard = { .blame_max_ns = ROOM_NS, .stricter_max = 3 },
	};
}

/* One AQM, with its maps open. */
static struct registrations open_maps(void)
{
	return (struct registrations){
		.of[0] = { .aqm = aqm_default(), .flows = flows_fd, .convictions = CONVICTIONS_FD },
		.count = 1,
	};
}

static struct dualpi2_flow *flow_out(__u32 id, __u64 until_ns)
{
	struct dualpi2_flow *flow = &flows[id % DUALPI2_FLOWS];

	*flow = (struct dualpi2_flow){
		.id = id,
		.qdisc = flow_qdisc(NUMBER, SINCE_NS),
		.guard = { .stay = { .until_ns = until_ns }, .terms = 1 },
	};
	return flow;
}

static struct dualpi2_conviction *convict(__u64 number, __u32 flow)
{
	struct dualpi2_conviction *conviction = &convictions[number % DUALPI2_CONVICTIONS];

	*conviction = (struct dualpi2_conviction){
		.number = number,
		.key = { .netns = 9, .ifindex = 1, .parent = TC_H_ROOT },
		.since_ns = SINCE_NS,
		.start_ns = number,
		.term = 1,
		.flow = flow,
		.begun = number,
	};
	return conviction;
}

static struct guarded look(struct sample *sample, struct registrations regs)
{
	struct samples list = { sample, 1 };

	guarded_look(&regs, &list);
	return sample->guarded;
}

/* ---- how many ------------------------------------------------------------------------ */

GUARD_TEST(convicts_are_counted_by_their_qdisc)
{
	struct sample sample = guarded_sample();
	const __u64 now = clock_now();
	struct guarded guarded;

	flow_out(1, now + 60 * SEC);
	flow_out(2, now + 60 * SEC);
	flow_out(3, now + 60 * SEC)->qdisc++;
	flow_out(4, 1);
	flow_out(5, now + 60 * SEC)->id = 0;
	guarded = look(&sample, open_maps());
	assert_true(guarded.is_known);
	assert_int_equal(guarded.convicts, 2);
	assert_int_equal(guarded.worst, 0);
}

/* Its term is over, but C has packets of it. */
GUARD_TEST(a_convict_waits_for_c)
{
	struct sample sample = guarded_sample();

	flow_out(1, 100)->guard.stay.last_ns = 150;
	assert_int_equal(look(&sample, open_maps()).convicts, 0);
	sample.total.stats.refreshed_ns = 200;
	sample.total.stats.c.head_age_ns = 50; /* the head is of 150 */
	assert_int_equal(look(&sample, open_maps()).convicts, 1);
	sample.total.stats.c.head_age_ns = 49;
	assert_int_equal(look(&sample, open_maps()).convicts, 0);
}

GUARD_TEST(the_worst_score_is_a_part_of_what_is_too_much)
{
	struct sample sample = guarded_sample();
	const __u64 now = clock_now();

	flow_out(1, 0)->guard.blamed_until_ns = now + 60 * SEC;
	flows[1].qdisc++; /* somebody else's */
	flow_out(2, 0)->guard = (struct guard_flow){ .blamed_until_ns = now + 20 * SEC };
	sample.total.stats.guard.blame_max_ns = 40 * SEC;
	assert_in_range(look(&sample, open_maps()).worst, 40, 50);
	/* Convicted once, and lately: half as much is too much. */
	flows[2].guard.terms = 1;
	flows[2].guard.stay.last_ns = now;
	assert_in_range(look(&sample, open_maps()).worst, 80, 100);
}

GUARD_TEST(a_guard_that_is_off_has_nobody)
{
	struct sample sample = guarded_sample();
	struct guarded guarded;

	flow_out(1, ~0ULL);
	sample.total.stats.params.guard = 0;
	guarded = look(&sample, open_maps());
	assert_true(guarded.is_known && !guarded.convicts);
}

GUARD_TEST(what_cannot_be_read_is_not_known)
{
	struct registrations closed = open_maps();
	struct sample sample = guarded_sample();

	assert_true(look(&sample, closed).is_known);
	closed.of[0].flows = -1;
	assert_false(look(&sample, closed).is_known);
	closed.of[0].flows = CONVICTIONS_FD; /* no such file */
	assert_false(look(&sample, closed).is_known);
}

GUARD_TEST(the_queues_of_an_mq_are_summed_up)
{
	struct sample queues[3] = { guarded_sample(), guarded_sample(), guarded_sample() };
	struct samples list = { queues, 3 };
	struct registrations regs = open_maps();
	const __u64 now = clock_now();

	queues[0].is_sum = true;
	queues[2].total.stats.number++;
	queues[1].total.stats.guard.blame_max_ns = queues[2].total.stats.guard.blame_max_ns =
		40 * SEC;
	flow_out(1, now + 60 * SEC);
	flow_out(2, now + 60 * SEC)->qdisc++;
	flow_out(3, 0)->guard.blamed_until_ns = now + 40 * SEC;
	guarded_look(&regs, &list);
	assert_int_equal(queues[1].guarded.convicts, 1);
	assert_int_equal(queues[2].guarded.convicts, 1);
	assert_true(queues[0].guarded.is_known);
	assert_int_equal(queues[0].guarded.convicts, 2);
	assert_in_range(queues[0].guarded.worst, 90, 200);
	queues[0].total.stats.params.guard = 1;
	regs.of[0].flows = -1;
	guarded_look(&regs, &list);
	assert_false(queues[0].guarded.is_known);
}

/* ---- who ----------------------------------------------------------------------------- */

static size_t list_convicts(struct court *court, struct convict *convicts)
{
	const struct registrations regs = open_maps();
	const struct sample sample = guarded_sample();

	assert_int_equal(court_read(&regs.of[0], true, court), 1);
	return convicts_of(court, &sample, convicts);
}

GUARD_TEST(the_latest_conviction_of_each_flow_is_listed)
{
	struct convict convicts[DUALPI2_CONVICTIONS];
	const __u64 now = clock_now();
	struct court court;

	convict(300, 7);
	convict(301, 8);
	convict(302, 7)->term = 2;
	flow_out(7, now + 60 * SEC);
	flow_out(8, 1);
	assert_int_equal(list_convicts(&court, convicts), 2);
	assert_int_equal(convicts[0].conviction->term, 2);
	assert_true(convicts[0].is_out);
	assert_in_range(convicts[0].left_ns, 50 * SEC, 60 * SEC);
	assert_int_equal(convicts[1].conviction->flow, 8);
	assert_false(convicts[1].is_out);
	court_free(&court);
}

/* It has one of two places. */
GUARD_TEST(a_flow_is_found_in_its_other_place)
{
	const __u32 id = 4711U << 16 | 12;
	struct convict convicts[DUALPI2_CONVICTIONS];
	struct court court;

	convict(1, id);
	flows[4711] = *flow_out(id, ~0ULL);
	flows[12].id = 13;
	assert_int_equal(list_convicts(&court, convicts), 1);
	assert_true(convicts[0].is_out);
	court_free(&court);
	flows[4711].id++; /* forgotten: another one has the place */
	assert_int_equal(list_convicts(&court, convicts), 1);
	assert_false(convicts[0].is_out);
	court_free(&court);
}

GUARD_TEST(what_is_half_written_or_of_others_is_not_listed)
{
	struct convict convicts[DUALPI2_CONVICTIONS];
	struct court court;

	convict(1, 1)->begun += DUALPI2_CONVICTIONS;
	convict(2, 2)->key.ifindex = 2;
	convict(3, 3)->since_ns++; /* of a qdisc that was there before */
	convict(4, 4)->number = 5; /* not its place */
	convictions[4].begun = 5;
	convict(6, 6)->number = 0;
	convictions[6].begun = 0;
	assert_int_equal(list_convicts(&court, convicts), 0);
	court_free(&court);
}

GUARD_TEST(maps_that_cannot_be_read_list_nobody)
{
	struct registrations regs = open_maps();
	struct court court;

	lookup_error = -EPERM;
	assert_int_equal(court_read(&regs.of[0], true, &court), -EPERM);
	assert_null(court.flows);
	lookup_error = -ENOENT;
	regs.of[0].flows = CONVICTIONS_FD; /* no such file */
	assert_int_equal(court_read(&regs.of[0], true, &court), -EBADF);
	regs.of[0].convictions = -1;
	assert_int_equal(court_read(&regs.of[0], true, &court), 0);
	assert_null(court.flows);
}

/* Whatever somebody has written there. */
GUARD_TEST(any_bytes_are_read)
{
	static const int fills[] = { 0xff, 0x7f, 0x80, 1 };
	struct convict convicts[DUALPI2_CONVICTIONS];
	struct sample sample = guarded_sample();
	char text[FLOW_NAME_TEXT_MAX];
	struct court court;

	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		memset(flows, fills[i], DUALPI2_FLOWS * sizeof(*flows));
		memset(convictions, fills[i], sizeof(convictions));
		for (size_t k = 0; k < DUALPI2_FLOWS; k++)
			flows[k].qdisc = flow_qdisc(NUMBER, SINCE_NS);
		for (size_t k = 0; k < DUALPI2_CONVICTIONS; k++) {
			convictions[k].number = convictions[k].begun = 256 + k;
			convictions[k].key = sample.key;
			convictions[k].since_ns = SINCE_NS;
		}
		sample.total.stats.guard.stricter_max = (__u32)fills[i] << 24;
		look(&sample, open_maps());
		assert_int_equal(list_convicts(&court, convicts), 1);
		flow_name_text(&convicts[0].conviction->name, text);
		assert_true(strlen(text) < sizeof(text));
		court_free(&court);
	}
}

/* ---- names --------------------------------------------------------------------------- */

static const struct {
	struct flow_name name;
	const char *said;
} names[] = {
	{ { .version = 4,
	    .protocol = 17,
	    .source = { 10, 0, 0, 1 },
	    .target = { 10, 0, 0, 2 },
	    .source_port = 5001,
	    .target_port = 443,
	    .has = FLOW_NAME_PORTS },
	  "10.0.0.1:5001 > 10.0.0.2:443, udp" },
	{ { .version = 6,
	    .protocol = 6,
	    .source = { 0xfd, [15] = 1 },
	    .target = { 0xfd, [15] = 2 },
	    .source_port = 1,
	    .target_port = 65535,
	    .label = 0x12345,
	    .has = FLOW_NAME_PORTS },
	  "[fd00::1]:1 > [fd00::2]:65535, tcp, flow label 0x12345" },
	{ { .version = 4, .protocol = 253, .tunnels = 1 },
	  "0.0.0.0 > 0.0.0.0, protocol 253, in 1 tunnel" },
	{ { .version = 4, .protocol = 50, .spi = 4096, .has = FLOW_NAME_SPI, .tunnels = 2 },
	  "0.0.0.0 > 0.0.0.0, esp, SPI 0x00001000, in 2 tunnels" },
	{ { .version = 4, .protocol = 51 }, "0.0.0.0 > 0.0.0.0, ah, SPI not known" },
	{ { .version = 4, .protocol = 6, .has = FLOW_NAME_FRAGMENT },
	  "0.0.0.0 > 0.0.0.0, tcp, ports not known (a fragment)" },
	{ {}, "not known: no IP packet" },
	{ { .version = 77, .protocol = 17 }, "? > ?, udp, ports not known" },
};

TEST(names_say_what_is_known)
{
	char text[FLOW_NAME_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(flow_name_text(&names[i].name, text), names[i].said);
}

TEST(the_longest_name_fits)
{
	struct flow_name name;
	char text[FLOW_NAME_TEXT_MAX];

	memset(&name, 0xff, sizeof(name));
	name.version = 6;
	flow_name_text(&name, text);
	assert_non_null(strstr(text, "in 255 tunnels (a fragment)"));
}
