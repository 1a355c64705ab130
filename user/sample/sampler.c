// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "pinned/maps.h"
#include "pinned/pins.h"
#include "pinned/tcx.h"
#include "sample/clock.h"
#include "sample/convicts.h"
#include "sample/sums.h"

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
static __u64 taken_at(const struct aqm *aqm, const struct dualpi2_stats *stats, __u64 now)
{
	const __u64 refreshed = stats->refreshed_ns;
	const __u64 period = aqm->period(&stats->params);

	return refreshed < now && now - refreshed < 2 * period ? refreshed : now;
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

static void look_at_interface(const struct collecting *collecting, const struct registration *reg,
			      struct sample *sample)
{
	const struct dualpi2_key *key = &sample->key;

	sample_ifname(key->ifindex, sample->total.stats.ifname, sample->device);
	sample->direction = sample_interface(ifbs_find(collecting->ifbs, key->ifindex),
					     sample->device, sample->ifname);
	/* Its pin can only be opened with the right to. */
	sample->tcx_attached = reg->mark >= 0 ? tcx_attached(reg, key, TCX_EGRESS) : -EPERM;
	if (sample->direction == INGRESS)
		look_who_is_passed_over(sample);
}

/* Put what there is of an instance into `sample`, which names it: 1; 0: it has just gone; -errno:
 * unknown.
 */
static int read_instance(const struct collecting *collecting, struct sample *sample)
{
	const struct registration *reg = registration_of(collecting->regs, sample->aqm);
	const struct dualpi2_key *key = &sample->key;
	const struct samples *list = collecting->list;
	const struct sample *last = list->count ? &list->items[list->count - 1] : NULL;
	struct figures *total = &sample->total;
	int found;

	found = stats_read(reg, key, &total->stats);
	if (found > 0)
		found = delays_read(reg, key, &total->delays);
	if (found > 0 && reg->aqm->has_values)
		found = values_read(reg, total->stats.number, &sample->values);
	if (found <= 0)
		return found;
	sample->identity = total->stats.since_ns;
	total->taken_ns = taken_at(reg->aqm, &total->stats, clock_now());
	if (last && last->aqm == sample->aqm && last->key.ifindex == key->ifindex)
		sample_copy_interface(sample, last);
	else
		look_at_interface(collecting, reg, sample);
	return 1;
}

/* Ours, and of each mq what the kernel itself sums up. */
static bool visit_qdisc(const struct qdisc *qdisc, void *data)
{
	struct collecting *collecting = data;
	struct sample sample = {
		.aqm = aqm_of_kind(qdisc->kind),
		.key = { collecting->netns, qdisc->ifindex, qdisc->parent },
		.is_sum = !strcmp(qdisc->kind, MQ_KIND),
		.counters = qdisc->counters,
		.refcnt = qdisc->refcnt,
		.total.stats.handle = qdisc->handle,
	};
	int found = sample.is_sum;

	if (collecting->error)
		return false;
	if (sample.aqm)
		found = read_instance(collecting, &sample);
	else if (!sample.is_sum)
		samples_note_stray(collecting->list, qdisc);
	if (found > 0 && !samples_append(collecting->list, &sample))
		found = -ENOMEM;
	if (found < 0)
		collecting->error = -found;
	collecting->misses |= sample.aqm && !found;
	return found > 0;
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

/* An mq without a queue of ours is none of ours. Queues that share a link are shown on request. */
static bool is_kept(const struct sampler *sampler, const struct sample *sample)
{
	return sample->aqm && (sampler->queues || sample->is_sum || sample_is_dualq(sample));
}

static void drop_others(const struct sampler *sampler, struct samples *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (is_kept(sampler, &list->items[i]))
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
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
	stats_refresh_all(regs);
	if (each_qdisc(sampler, visit_qdisc, &collecting) < 0 ||
	    expect_known(-collecting.error, "the statistics") < 0 || !samples_add_sums(list))
		goto failed;
	drop_others(sampler, list);
	guarded_look(regs, list);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare);
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
