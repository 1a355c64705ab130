// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* In place of user/sample/sampler.c: with it dualpi2-stats shows qdiscs that do not exist, so that
 * a test of its outputs knows every figure and needs no kernel. A sample follows from its number n
 * = 0, 1,
 * ...: in each step, by scenario ($DUALPI2_PRETEND), an interface forwards so many packets of 1000
 * bytes, which waited so long.
 */
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "aqm/member.h"
#include "aqm/params.h"
#include "coupling.h"
#include "sample/sampler.h"

#define PACKET_BYTES 1000
#define INSTANCES_MAX 8
#define STEP_NS DUALPI2_NSEC_PER_SEC /* of the pretended time, whatever --interval says */

struct instance {
	const char *ifname;
	__u32 parent;
	__u32 prob_percent;
	__u64 l_packets, l_delay_ns, l_marks; /* a step */
	__u64 c_packets, c_delay_ns, c_drops;
	__u64 c_waiting; /* packets in the queue */
	bool without_tcx, overload;
	enum direction direction;
	bool guard_is_unknown;
	__u32 hosts;		  /* that have packets waiting; as many packets share a DualQ */
	__u32 convicts;		  /* flows out of L, of which a packet in ten is */
	unsigned int comes_after; /* samples */
	size_t aqm;		  /* its number in aqms; not there if there are not so many */
};

#define MSEC DUALPI2_NSEC_PER_MSEC
#define USEC DUALPI2_NSEC_PER_USEC

static const struct scenario {
	const char *name;
	struct instance instances[INSTANCES_MAX];
	unsigned int goes_after;  /* samples; 0: stays */
	unsigned int fails_after; /* samples; 0: never */
} scenarios[] = {
	{ .name = "busy",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2,
			   12 } } },
	{ .name = "empty",
	  .instances = { { "eth0", TC_H_ROOT, 0, 500, 5 * USEC, 0, 500, 5 * USEC } } },
	{ .name = "idle", .instances = { { "eth0", TC_H_ROOT } } },
	{ .name = "overload",
	  .instances = { { .ifname = "eth0",
			   .parent = TC_H_ROOT,
			   .prob_percent = 60,
			   .l_packets = 2000,
			   .l_delay_ns = 900 * USEC,
			   .l_marks = 2000,
			   .overload = true } } },
	{ .name = "guarded",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12,
			   .convicts = 2 } } },
	{ .name = "guard-unknown",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12,
			   .convicts = 2, .guard_is_unknown = true } } },
	{ .name = "hosts",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12,
			   .hosts = 3 } } },
	{ .name = "without-tcx",
	  .instances = { { .ifname = "eth0",
			   .parent = TC_H_ROOT,
			   .c_packets = 1000,
			   .c_delay_ns = 15 * MSEC,
			   .without_tcx = true } } },
	{ .name = "escape",
	  .instances = { { .ifname = "a\x1b[2Jb",
			   .parent = TC_H_ROOT,
			   .c_packets = 1000,
			   .c_delay_ns = 15 * MSEC,
			   .without_tcx = true } } },
	{ .name = "several",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 },
			 { "eth1", TC_H_ROOT, 1, 100, 2 * MSEC, 0, 10, 5 * MSEC },
			 { "wlan\"0\\", TC_H_ROOT } } },
	{ .name = "conditions",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 },
			 { .ifname = "eth0",
			   .parent = TC_H_ROOT,
			   .prob_percent = 60,
			   .l_packets = 2000,
			   .l_delay_ns = 900 * USEC,
			   .l_marks = 2000,
			   .overload = true,
			   .direction = INGRESS },
			 { .ifname = "eth1", .parent = TC_H_ROOT, .without_tcx = true } } },
	{ .name = "comes",
	  .instances = { { .ifname = "eth0", .parent = TC_H_ROOT, .comes_after = 3 },
			 { "eth1", TC_H_ROOT, 4, 2000, 500 * USEC, 150 } } },
	{ .name = "queues",
	  .instances = { { "eth0", 0x80010001, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 },
			 { "eth0", 0x80010002, 1, 100, 2 * MSEC, 0, 10, 5 * MSEC } } },
	{ .name = "both",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 },
			 { .ifname = "eth0",
			   .parent = TC_H_ROOT,
			   .l_packets = 100,
			   .l_delay_ns = 2 * MSEC,
			   .without_tcx = true,
			   .direction = INGRESS } } },
	{ .name = "aqms",
	  .instances = { { .ifname = "eth0", .parent = TC_H_ROOT, .l_packets = 10 },
			 { .ifname = "eth1", .parent = TC_H_ROOT, .l_packets = 10, .aqm = 1 },
			 { .ifname = "eth2", .parent = TC_H_ROOT, .l_packets = 10, .aqm = 2 },
			 { .ifname = "eth3", .parent = TC_H_ROOT, .l_packets = 10, .aqm = 3 },
			 { .ifname = "eth4", .parent = TC_H_ROOT, .l_packets = 10, .aqm = 4 } } },
	{ .name = "goes",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 } },
	  .goes_after = 3 },
	{ .name = "fails",
	  .instances = { { "eth0", TC_H_ROOT, 4, 2000, 500 * USEC, 150, 1000, 15 * MSEC, 2, 12 } },
	  .fails_after = 3 },
	{ .name = "none" },
};

static const struct scenario *scenario;
static unsigned int sample_number;

static void fill_histogram(struct dualpi2_histogram *histogram, __u64 packets, __u64 delay_ns)
{
	if (!packets)
		return;
	histogram->bucket[histogram_index(delay_ns)] = packets;
	histogram->sum_ns = packets * delay_ns;
	histogram->max_ns = delay_ns;
}

static void fill_queue(struct dualpi2_queue *queue, __u64 forwarded, __u64 dropped, __u64 waiting)
{
	queue->counters.packets_out = forwarded;
	queue->counters.bytes_out = forwarded * PACKET_BYTES;
	queue->counters.drop_aqm = dropped;
	queue->counters.drop_bytes = dropped * PACKET_BYTES;
	queue->backlog_packets = waiting;
	queue->backlog_bytes = waiting * PACKET_BYTES;
	queue->counters.packets_in = forwarded + dropped + waiting;
	queue->counters.bytes_in = queue->counters.packets_in * PACKET_BYTES;
}

/* Each gauge of an AQM has a value of its own, 1001 times its place, and each counter grows by so
 * much.
 */
static void fill_gauges(struct sample *sample, __u64 steps)
{
	const struct stat_row *rows = sample->aqm->gauges;

	for (__u64 i = 0; rows[i].member; i++) {
		if (rows[i].key)
			member_set(&sample->total.stats, rows[i].offset, rows[i].size,
				   1001 * (i + 1) * (rows[i].is_counter ? steps : 1));
	}
}

/* Convicted each step anew; the worst of the others has 43 % of what is too much. */
static void fill_guard(struct sample *sample, const struct instance *instance, __u64 steps)
{
	struct dualpi2_stats *stats = &sample->total.stats;

	sample->guarded.is_known = !instance->guard_is_unknown;
	if (!instance->convicts)
		return;
	stats->params.guard = 1;
	stats->convictions = steps * instance->convicts;
	stats->redirected = steps * (instance->l_packets + instance->c_packets) / 10;
	if (sample->guarded.is_known)
		sample->guarded = (struct guarded){ true, instance->convicts, 43 };
}

static void fill_hosts(struct dualpi2_stats *stats, const struct instance *instance, __u64 steps)
{
	if (!instance->hosts)
		return;
	stats->params.per_host = DUALPI2_HOSTS_DST;
	stats->hosts_waiting = instance->hosts;
	stats->hosts_shared = steps * instance->hosts;
}

static void fill(struct sample *sample, const struct instance *instance, unsigned int index)
{
	const __u64 steps = sample_number + 1, start = DUALPI2_NSEC_PER_SEC;
	struct dualpi2_stats *stats = &sample->total.stats;
	__u64 p_cl;

	*sample = (struct sample){
		.key = { .ifindex = index + 1, .parent = instance->parent },
		.total.taken_ns = start + steps * STEP_NS,
		.aqm = aqms[instance->aqm],
		.total.stats.params = params_default(aqms[instance->aqm]),
		.total.stats.handle = 0x80020000,
		.total.stats.refreshed_ns = start + steps * STEP_NS,
		.total.stats.memlimit = 30280000,
		.total.stats.updates = 60 * steps,
		.refcnt = 1,
		.tcx_attached = !instance->without_tcx,
	};
	stats->levels.prob = (__u32)((__u64)PROB_MAX * instance->prob_percent / 100);
	stats->levels.p_c = coupling_p_c(stats->levels.prob);
	p_cl = coupling_p_cl(stats->levels.prob, stats->params.coupling);
	stats->levels.p_cl = p_cl < PROB_MAX ? (__u32)p_cl : PROB_MAX;
	stats->params.rate = 5000000;
	snprintf(sample->ifname, sizeof(sample->ifname), "%s", instance->ifname);
	sample->direction = instance->direction;
	snprintf(sample->device, sizeof(sample->device), "%s%s",
		 instance->direction == INGRESS ? "in-" : "", instance->ifname);
	fill_queue(&stats->l, steps * instance->l_packets, 0, 0);
	fill_queue(&stats->c, steps * instance->c_packets, steps * instance->c_drops,
		   instance->c_waiting);
	if (instance->c_waiting)
		stats->c.head_age_ns = instance->c_delay_ns;
	stats->l.counters.mark_coupled = steps * instance->l_marks;
	fill_gauges(sample, steps);
	fill_guard(sample, instance, steps);
	fill_hosts(stats, instance, steps);
	if (instance->overload)
		stats->overload = (struct dualpi2_overload){
			.events = 1,
			.active = 1,
			.start_ns = start,
			.duration_ns = steps * STEP_NS,
			.total_ns = steps * STEP_NS,
		};
	fill_histogram(&sample->total.delays.l, steps * instance->l_packets, instance->l_delay_ns);
	fill_histogram(&sample->total.delays.c, steps * instance->c_packets, instance->c_delay_ns);
}

bool sampler_open(struct sampler *sampler, const char *ifname)
{
	const char *name = getenv("DUALPI2_PRETEND");

	*sampler = (struct sampler){ .ifname = ifname };
	for (size_t i = 0; name && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (!strcmp(scenarios[i].name, name))
			scenario = &scenarios[i];
	}
	return scenario || fail(0, "$DUALPI2_PRETEND: no such scenario");
}

bool sampler_take(struct sampler *sampler, struct samples *list)
{
	if (scenario->fails_after && sample_number == scenario->fails_after)
		return fail(0, "out of order");
	*list = (struct samples){ .items = calloc(INSTANCES_MAX, sizeof(*list->items)) };
	if (!list->items)
		return fail(0, "out of memory");
	for (unsigned int i = 0; i < INSTANCES_MAX && scenario->instances[i].ifname; i++) {
		const struct instance *instance = &scenario->instances[i];

		if (sampler->ifname && strcmp(sampler->ifname, instance->ifname))
			continue;
		if (sample_number < instance->comes_after || !aqms[instance->aqm])
			continue;
		if (!scenario->goes_after || sample_number < scenario->goes_after)
			fill(&list->items[list->count++], instance, i);
	}
	sample_number++;
	return true;
}

void sampler_close(struct sampler *sampler)
{
	sampler->regs.count = 0;
}

bool sampler_open_again(struct sampler *sampler)
{
	(void)sampler;
	return true;
}

int sampler_link(struct sampler *sampler)
{
	(void)sampler;
	return 0;
}

bool sampler_has_nothing(struct sampler *sampler)
{
	(void)sampler;
	return fail(0, "nothing there");
}
