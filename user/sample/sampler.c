// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sampler.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/stat.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/maps.h"
#include "pinned/pins.h"
#include "pinned/tcx.h"
#include "sample/clock.h"

static const char *only_owner(char *why)
{
	snprintf(why, PINS_WHY_MAX, "only the owner of " PIN_DIR " may read them: run it %s",
		 privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
	return why;
}

/* The registrations, or what we may read of them; that there is none is no failure. */
static bool open_registrations(struct sampler *sampler)
{
	int found = pins_find(sampler->why);
	bool opened = true;

	sampler->hidden = NULL;
	if (found > 0 && pins_are_hidden()) {
		opened = registrations_open_public(&sampler->regs);
		if (opened && !registrations_found(&sampler->regs))
			sampler->hidden = only_owner(sampler->why);
	} else if (found > 0) {
		opened = registrations_open(&sampler->regs);
	} else if (found) {
		sampler->hidden = message_shortage(-found) ?: sampler->why;
	}
	pins_keep_privilege(0);
	return opened;
}

bool sampler_open(struct sampler *sampler, const char *ifname)
{
	*sampler = (struct sampler){ .ifname = ifname };
	if (ifname && !link_named(ifname, &sampler->link))
		return false;
	return open_registrations(sampler);
}

void sampler_close(struct sampler *sampler)
{
	registrations_close(&sampler->regs);
}

/* ---- qdiscs -------------------------------------------------------------------------- */

/* Another interface may get the number of one that was deleted, but hardly with its address. */
static bool is_same(const struct link *one, const struct link *other)
{
	return one->ifindex == other->ifindex &&
	       (one->address == other->address || !strcmp(one->name, other->name));
}

int sampler_link(struct sampler *sampler)
{
	struct link now;
	int found = link_look(sampler->link.ifindex, &now);

	if (found >= 0 && !(found && is_same(&sampler->link, &now)))
		found = link_look_for(sampler->ifname, &now);
	if (found > 0)
		sampler->link = now;
	return found;
}

/* As qdisc_each(), in both directions. */
static int each_qdisc(struct sampler *sampler, bool (*visit)(const struct qdisc *qdisc, void *data),
		      void *data)
{
	int found = sampler->ifname ? sampler_link(sampler) : 1;
	const int ifindex = sampler->link.ifindex; /* 0: all */

	if (found <= 0)
		return found;
	found = qdisc_each(ifindex, visit, data);
	for (size_t i = 0; ifindex && found >= 0 && i < sampler->ifbs.count; i++) {
		const struct ifb *ifb = &sampler->ifbs.of[i];
		int also = 0;

		if (ifb_belongs_to(ifb, (__u32)ifindex))
			also = qdisc_each((int)ifb->ifindex, visit, data);
		found = also ? also : found;
	}
	return found;
}

/* Is it one of ours, whatever we may see of its statistics? The first one's AQM is kept. */
static bool visit_kind(const struct qdisc *qdisc, void *data)
{
	const struct aqm **aqm = data;

	*aqm = *aqm ?: aqm_of_kind(qdisc->kind);
	return *aqm;
}

/* ---- figures ------------------------------------------------------------------------- */

/* The moment that published statistics are of. They are refreshed by every update of the AQM unless
 * nothing happens: what is older than that still holds.
 */
static __u64 taken_at(const struct sample *sample, __u64 now)
{
	const __u64 refreshed = sample->total.stats.refreshed_ns;
	const __u64 period = sample->aqm->period(&sample->total.stats.params);

	return refreshed < now && now - refreshed < 2 * period ? refreshed : now;
}

/* Put the figures of one instance into `sample`: 1; 0: it has just gone; -errno: unknown. */
static int read_instance(const struct registration *reg, const struct dualpi2_key *key,
			 struct sample *sample)
{
	int found;

	*sample = (struct sample){ .aqm = reg->aqm, .key = *key };
	found = stats_read(reg, key, &sample->total.stats);
	if (found > 0)
		found = delays_read(reg, key, &sample->total.delays);
	if (found > 0 && reg->aqm->has_values)
		found = values_read(reg, sample->stats.number, &sample->values);
	if (found <= 0)
		return found;
	sample->identity = sample->total.stats.since_ns;
	sample->total.taken_ns = taken_at(sample, clock_now());
	sample_ifname(key->ifindex, sample->total.stats.ifname, sample->device);
	/* Its pin can only be opened with the right to. */
	sample->tcx_attached = reg->mark >= 0 ? tcx_attached(reg, key, TCX_EGRESS) : -EPERM;
	return 1;
}

/* Instances are found by the qdiscs that the kernel shows: a walk through the map of
 * statistics can miss some, as its entries move whenever they are refreshed.
 */
struct collecting {
	const struct registrations *regs;
	const struct ifbs *ifbs;
	__u64 netns;
	struct samples *list;
	bool misses; /* a qdisc of ours that the maps that are open do not know */
	int error;   /* of the first that could not be read */
};

/* Those that came after us; the others are refused. */
static void look_who_is_passed_over(struct sample *sample)
{
	struct passed_over others;
	struct link link;

	if (link_look_for(sample->ifname, &link) > 0 &&
	    passed_over_look(link.ifindex, sample->ifname, &others) > 0)
		memcpy(sample->passed_over, others.whose, sizeof(sample->passed_over));
}

static bool visit_instance(const struct qdisc *qdisc, void *data)
{
	struct collecting *collecting = data;
	struct samples *list = collecting->list;
	struct sample *sample = &list->items[list->count];
	struct dualpi2_key key = {
		.netns = collecting->netns,
		.ifindex = qdisc->ifindex,
		.parent = qdisc->parent,
	};
	const struct aqm *aqm = aqm_of_kind(qdisc->kind);
	int found;

	if (!aqm || list->count == DUALPI2_MAX_INSTANCES * collecting->regs->count ||
	    collecting->error)
		return false;
	found = read_instance(registration_of(collecting->regs, aqm), &key, sample);
	if (found < 0)
		collecting->error = -found;
	if (!found)
		collecting->misses = true;
	if (found <= 0)
		return false;
	sample->direction = sample_interface(ifbs_find(collecting->ifbs, key.ifindex),
					     sample->device, sample->ifname);
	sample->counters = qdisc->counters;
	sample->refcnt = qdisc->refcnt;
	if (sample->direction == INGRESS)
		look_who_is_passed_over(sample);
	list->count++;
	return true;
}

/* What the kernel itself sums up for the root of an mq. */
static bool visit_mq(const struct qdisc *qdisc, void *data)
{
	struct samples *list = data;

	if (strcmp(qdisc->kind, MQ_KIND))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		struct sample *sample = &list->items[i];

		if (!sample->is_sum || sample->key.ifindex != (__u32)qdisc->ifindex)
			continue;
		sample->counters = qdisc->counters;
		sample->refcnt = qdisc->refcnt;
		sample->total.stats.handle = qdisc->handle;
	}
	return true;
}

static int compare(const void *one, const void *other)
{
	const struct sample *a = one, *b = other;
	int names = strcmp(a->ifname, b->ifname);

	if (names)
		return names;
	if (a->direction != b->direction)
		return a->direction == EGRESS ? -1 : 1;
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
	struct dualpi2_stats *stats = &sum->total.stats;
	const __u32 maxq = stats->maxq;

	sum->identity += sample->identity;
	stat_add(qdisc_rows, stats, &sample->total.stats);
	/* Whether any queue was ever in use. */
	stats->maxq = sample->total.stats.maxq > maxq ? sample->total.stats.maxq : maxq;
	add_overload(&stats->overload, &sample->total.stats.overload);
	stat_add(queue_rows, &stats->l, &sample->total.stats.l);
	stat_add(queue_rows, &stats->c, &sample->total.stats.c);
	add_histogram(&sum->total.delays.l, &sample->total.delays.l);
	add_histogram(&sum->total.delays.c, &sample->total.delays.c);
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
		.total.taken_ns = queue->total.taken_ns,
		.total.stats.params = queue->total.stats.params,
		.tcx_attached = queue->tcx_attached,
	};
	sum->key.parent = TC_H_ROOT;
	sum->direction = queue->direction;
	memcpy(sum->ifname, queue->ifname, sizeof(sum->ifname));
	memcpy(sum->device, queue->device, sizeof(sum->device));
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

/* `complete`: do the maps that are open know each qdisc of ours? */
static bool collect(struct sampler *sampler, struct samples *list, bool *complete)
{
	const struct registrations *regs = &sampler->regs;
	struct collecting collecting = { .regs = regs, .ifbs = &sampler->ifbs, .list = list };

	*list = (struct samples){};
	*complete = false;
	if (!ifbs_read(regs, &sampler->ifbs))
		return false;
	if (!registrations_found(regs))
		return true;
	collecting.netns = netns_current();
	if (!collecting.netns)
		return false;
	/* At most a sum for each. */
	list->items = calloc(2 * DUALPI2_MAX_INSTANCES * regs->count, sizeof(*list->items));
	if (!list->items)
		return fail(ENOMEM, "no room for the figures");
	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]))
			stats_refresh(&regs->of[i]);
	}
	if (each_qdisc(sampler, visit_instance, &collecting) < 0 ||
	    expect_known(-collecting.error, "the statistics") < 0)
		goto failed;
	add_sums(list);
	if (each_qdisc(sampler, visit_mq, list) < 0)
		goto failed;
	qsort(list->items, list->count, sizeof(*list->items), compare);
	shrink(list);
	*complete = list->count && !collecting.misses;
	return true;
failed:
	free(list->items);
	return false;
}

/* ---- samples ------------------------------------------------------------------------- */

static const char *where(const struct sampler *sampler)
{
	return sampler->ifname ? sampler->ifname : "this network namespace";
}

/* That statistics cannot be seen is not that there are none. */
static bool nothing_is_hidden(struct sampler *sampler)
{
	const struct aqm *aqm = NULL;
	int lives = sampler->hidden ? each_qdisc(sampler, visit_kind, &aqm) : 0;

	if (lives > 0)
		fail(0, "%s: %s is attached, but its statistics cannot be seen: %s", where(sampler),
		     aqm->kind, sampler->hidden);
	return !lives;
}

bool sampler_open_again(struct sampler *sampler)
{
	sampler_close(sampler);
	return open_registrations(sampler);
}

bool sampler_take(struct sampler *sampler, struct samples *list)
{
	bool complete;

	if (!collect(sampler, list, &complete))
		return false;
	if (complete)
		return true;
	/* The maps may be those of a registration that is gone, and there is another one: of the
	 * same AQM, or of another that an interface has now.
	 */
	free(list->items);
	return sampler_open_again(sampler) && nothing_is_hidden(sampler) &&
	       collect(sampler, list, &complete);
}

bool sampler_has_nothing(struct sampler *sampler)
{
	const char *which = sampler->ifname ? sampler->ifname : "IFACE";
	const struct aqm *aqm = NULL;
	int lives = nothing_is_hidden(sampler) ? each_qdisc(sampler, visit_kind, &aqm) : -EACCES;

	if (lives < 0)
		return false;
	if (lives)
		return fail(0,
			    "%s: %s is attached, but its pins are gone: no statistics, no marks, "
			    "until `dualpi2-load %s`",
			    where(sampler), aqm->kind, which);
	return fail(0, "%s: no %s qdisc: `dualpi2-load %s` attaches one", where(sampler),
		    aqm_default()->kind, which);
}
