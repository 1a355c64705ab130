// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/collect.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/stat.h"
#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/maps.h"
#include "pinned/tcx.h"
#include "sample/clock.h"

/* The moment that published statistics are of. They are refreshed by every update of the AQM unless
 * nothing happens: what is older than that still holds.
 */
static __u64 taken_at(const struct sample *sample, __u64 now)
{
	const __u64 refreshed = sample->stats.refreshed_ns;
	const __u64 period = sample->aqm->period(&sample->stats.params);

	return refreshed < now && now - refreshed < 2 * period ? refreshed : now;
}

static void read_tcx(const struct registration *reg, const struct dualpi2_key *key,
		     struct sample *sample)
{
	int state = reg->mark >= 0 ? tcx_attached(reg, key, TCX_EGRESS) : -EPERM;

	sample->tcx_attached = state > 0;
	sample->tcx_known = state >= 0;
}

/* Put the figures of one instance into `sample`: 1; 0: it has just gone; -errno: unknown. */
static int read_instance(const struct registration *reg, const struct dualpi2_key *key,
			 struct sample *sample)
{
	int found;

	*sample = (struct sample){ .aqm = reg->aqm, .key = *key };
	found = stats_read(reg, key, &sample->stats);
	if (found > 0)
		found = delays_read(reg, key, &sample->delays);
	if (found <= 0)
		return found;
	sample->taken_ns = taken_at(sample, clock_now());
	sample_ifname(key->ifindex, sample->stats.ifname, sample->ifname);
	read_tcx(reg, key, sample);
	return 1;
}

/* Instances are found by the qdiscs that the kernel shows: a walk through the map of
 * statistics can miss some, as its entries move whenever they are refreshed.
 */
struct collecting {
	const struct registrations *regs;
	__u64 netns;
	unsigned int ifindex; /* 0: all */
	struct samples *list;
	int error; /* of the first that could not be read */
};

static void visit_instance(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct collecting *collecting = data;
	struct samples *list = collecting->list;
	struct sample *sample = &list->items[list->count];
	struct dualpi2_key key = {
		.netns = collecting->netns,
		.ifindex = ifindex,
		.parent = qdisc->parent,
	};
	const struct aqm *aqm = aqm_of_kind(qdisc->kind);
	int found;

	if (!aqm || list->count == DUALPI2_MAX_INSTANCES * collecting->regs->count ||
	    (collecting->ifindex && collecting->ifindex != key.ifindex) || collecting->error)
		return;
	found = read_instance(registration_of(collecting->regs, aqm), &key, sample);
	if (found < 0)
		collecting->error = -found;
	if (found <= 0)
		return;
	sample->counters = qdisc->counters;
	sample->refcnt = qdisc->refcnt;
	list->count++;
}

/* What the kernel itself sums up for the root of an mq. */
static void visit_mq(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct samples *list = data;

	if (strcmp(qdisc->kind, MQ_KIND))
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct sample *sample = &list->items[i];

		if (!sample->is_sum || sample->key.ifindex != (__u32)ifindex)
			continue;
		sample->counters = qdisc->counters;
		sample->refcnt = qdisc->refcnt;
		sample->stats.handle = qdisc->handle;
	}
}

static int compare(const void *one, const void *other)
{
	const struct sample *a = one, *b = other;
	int names = strcmp(a->ifname, b->ifname);

	if (names)
		return names;
	if (a->is_sum != b->is_sum)
		return a->is_sum ? -1 : 1;
	return a->key.parent < b->key.parent ? -1 : a->key.parent > b->key.parent;
}

static void add_histogram(struct dualpi2_histogram *sum, const struct dualpi2_histogram *histogram)
{
	sum->sum_ns += histogram->sum_ns;
	if (histogram->max_ns > sum->max_ns)
		sum->max_ns = histogram->max_ns;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum->bucket[i] += histogram->bucket[i];
}

/* Events of several queues may overlap: `total_ns` is of queue-time. */
static void add_overload(struct dualpi2_overload *sum, const struct dualpi2_overload *overload)
{
	sum->events += overload->events;
	sum->total_ns += overload->total_ns;
	sum->active |= overload->active;
	if (overload->start_ns > sum->start_ns) {
		sum->start_ns = overload->start_ns;
		sum->duration_ns = overload->duration_ns;
	}
}

static void add_figures(struct sample *sum, const struct sample *sample)
{
	struct dualpi2_stats *stats = &sum->stats;
	const __u32 maxq = stats->maxq;

	stat_add(qdisc_rows, stats, &sample->stats);
	/* Whether any queue was ever in use. */
	stats->maxq = sample->stats.maxq > maxq ? sample->stats.maxq : maxq;
	add_overload(&stats->overload, &sample->stats.overload);
	stat_add(queue_rows, &stats->l, &sample->stats.l);
	stat_add(queue_rows, &stats->c, &sample->stats.c);
	add_histogram(&sum->delays.l, &sample->delays.l);
	add_histogram(&sum->delays.c, &sample->delays.c);
}

/* The sum of the interface that a queue belongs to; a new one if there is none yet. */
static struct sample *sum_of(struct samples *list, const struct sample *queue)
{
	struct sample *sum;

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].is_sum && list->items[i].key.ifindex == queue->key.ifindex)
			return &list->items[i];
	}
	sum = &list->items[list->count++];
	*sum = (struct sample){
		.aqm = queue->aqm,
		.key = queue->key,
		.is_sum = true,
		.taken_ns = queue->taken_ns,
		.stats.params = queue->stats.params,
		.tcx_attached = queue->tcx_attached,
		.tcx_known = queue->tcx_known,
	};
	sum->key.parent = TC_H_ROOT;
	memcpy(sum->ifname, queue->ifname, sizeof(sum->ifname));
	return sum;
}

static void add_sums(struct samples *list)
{
	size_t instances = list->count;

	for (size_t i = 0; i < instances; i++) {
		const struct sample *sample = &list->items[i];

		if (sample->key.parent != TC_H_ROOT)
			add_figures(sum_of(list, sample), sample);
	}
}

/* Whoever keeps many lists keeps no room for instances that are not. */
static void shrink(struct samples *list)
{
	struct sample *items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (items)
		list->items = items;
}

bool samples_collect(const struct registrations *regs, unsigned int ifindex, struct samples *list)
{
	struct collecting collecting = { .regs = regs, .ifindex = ifindex, .list = list };

	if (!netns_current(&collecting.netns))
		return false;
	*list = (struct samples){};
	/* At most a sum for each. */
	list->items = calloc(2 * DUALPI2_MAX_INSTANCES * regs->count, sizeof(*list->items));
	if (!list->items)
		return fail(ENOMEM, "no room for the figures");
	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]))
			stats_refresh(&regs->of[i]);
	}
	if (!qdisc_dump(visit_instance, &collecting))
		goto failed;
	if (collecting.error) {
		fail(collecting.error, "cannot read the statistics: %s; run it again",
		     strerror(collecting.error));
		goto failed;
	}
	add_sums(list);
	if (!qdisc_dump(visit_mq, list))
		goto failed;
	qsort(list->items, list->count, sizeof(*list->items), compare);
	shrink(list);
	return true;
failed:
	free(list->items);
	return false;
}

struct looking {
	unsigned int ifindex;
	const struct aqm *aqm; /* that was found */
};

static void look_for_kind(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct looking *looking = data;

	if (!looking->aqm && (!looking->ifindex || looking->ifindex == (unsigned int)ifindex))
		looking->aqm = aqm_of_kind(qdisc->kind);
}

int samples_look_for_kind(unsigned int ifindex, const struct aqm **aqm)
{
	struct looking looking = { .ifindex = ifindex };

	if (!qdisc_dump(look_for_kind, &looking))
		return -EIO;
	*aqm = looking.aqm;
	return *aqm != NULL;
}
