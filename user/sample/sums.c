// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sums.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "aqm/stat.h"
#include "cli/message.h"

struct sample *samples_append(struct samples *list, const struct sample *sample)
{
	struct sample *items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items) {
		fail(ENOMEM, "no room for the figures");
		return NULL;
	}
	list->items = items;
	items[list->count] = *sample;
	return &items[list->count++];
}

void sample_copy_interface(struct sample *to, const struct sample *from)
{
	memcpy(to->ifname, from->ifname, sizeof(to->ifname));
	memcpy(to->device, from->device, sizeof(to->device));
	memcpy(to->passed_over, from->passed_over, sizeof(to->passed_over));
	to->direction = from->direction;
	to->tcx_attached = from->tcx_attached;
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

/* Queues that have one link tell of the same AQM and the same limit: the latest figures hold. Each
 * has a credit of its own.
 */
static void take_aqm(struct dualpi2_stats *sum, const struct dualpi2_stats *stats, __u64 updates)
{
	sum->updates = MAX(updates, stats->updates);
	sum->memlimit = stats->memlimit;
	sum->credit = 0;
	if (stats->refreshed_ns < sum->refreshed_ns)
		return;
	sum->levels = stats->levels;
	memcpy(sum->aqm, stats->aqm, sizeof(sum->aqm));
	sum->overload = stats->overload;
}

/* The oldest head is that of all. */
static void add_queue(struct dualpi2_queue *sum, const struct dualpi2_queue *queue)
{
	stat_add(queue_rows, sum, queue);
	sum->head_age_ns = MAX(sum->head_age_ns, queue->head_age_ns);
}

static void add_figures(struct sample *sum, const struct sample *sample)
{
	struct figures *total = &sum->total;
	struct dualpi2_stats *stats = &total->stats;
	const struct dualpi2_stats *more = &sample->total.stats;
	const __u64 updates = stats->updates;
	const __u32 maxq = stats->maxq;

	sum->identity += sample->identity;
	stat_add(qdisc_rows, stats, more);
	stats->maxq = more->maxq > maxq ? more->maxq : maxq; /* whether any queue was ever in use */
	if (sample->aqm->variant == AQM_MQ)
		take_aqm(stats, more, updates);
	else
		add_overload(&stats->overload, &more->overload);
	stats->refreshed_ns = MAX(stats->refreshed_ns, more->refreshed_ns);
	add_queue(&stats->l, &more->l);
	add_queue(&stats->c, &more->c);
	add_histogram(&total->delays.l, &sample->total.delays.l);
	add_histogram(&total->delays.c, &sample->total.delays.c);
}

/* The sum over the queues of an interface; NULL: there is none yet. */
static struct sample *find_sum(const struct samples *list, __u32 ifindex)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].is_sum && list->items[i].key.ifindex == ifindex)
			return &list->items[i];
	}
	return NULL;
}

/* That of the interface that a queue belongs to, which is one more item unless its mq has been
 * seen. NULL: as samples_append().
 */
static struct sample *sum_of(struct samples *list, const struct sample *queue)
{
	const struct sample none = { .key = queue->key, .is_sum = true };

	return find_sum(list, queue->key.ifindex) ?: samples_append(list, &none);
}

static void add_stray(struct strays *strays, __u32 parent, const char *kind)
{
	if (strays->count++)
		return;
	strays->first = parent;
	snprintf(strays->kind, sizeof(strays->kind), "%s", kind);
}

void samples_note_stray(struct samples *list, const struct qdisc *qdisc)
{
	struct sample *sum = find_sum(list, (__u32)qdisc->ifindex);

	if (sum && TC_H_MIN(qdisc->parent) && TC_H_MAJ(qdisc->parent) == sum->total.stats.handle)
		add_stray(&sum->strays, qdisc->parent, qdisc->kind);
}

/* What a sum has of its first queue. */
static void begin_sum(struct sample *sum, const struct sample *queue)
{
	sum->aqm = queue->aqm;
	sum->key.parent = TC_H_ROOT;
	sample_copy_interface(sum, queue);
	sum->total.taken_ns = queue->total.taken_ns;
	sum->total.stats.params = queue->total.stats.params;
}

bool samples_add_sums(struct samples *list)
{
	const size_t found = list->count;

	for (size_t i = 0; i < found; i++) {
		struct sample *sum;

		if (list->items[i].key.parent == TC_H_ROOT)
			continue;
		sum = sum_of(list, &list->items[i]);
		if (!sum)
			return false;
		if (!sum->aqm)
			begin_sum(sum, &list->items[i]);
		if (sum->aqm != list->items[i].aqm)
			add_stray(&sum->strays, list->items[i].key.parent,
				  list->items[i].aqm->kind);
		add_figures(sum, &list->items[i]);
	}
	return true;
}
