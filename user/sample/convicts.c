// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/convicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/array_map.h"
#include "sample/clock.h"

/* ---- the maps ------------------------------------------------------------------------ */

#define FLOWS_SIZE (DUALPI2_FLOWS * sizeof(struct dualpi2_flow))

static int read_convictions(const struct registration *reg, struct court *court)
{
	court->convictions = calloc(DUALPI2_CONVICTIONS, sizeof(*court->convictions));
	return court->convictions
		       ? array_map_read(reg->convictions, DUALPI2_CONVICTIONS, court->convictions)
		       : -ENOMEM;
}

int court_read(const struct registration *reg, bool with_convictions, struct court *court)
{
	int error = 0;

	*court = (struct court){};
	if (reg->flows < 0 || (with_convictions && reg->convictions < 0))
		return 0;
	/* First: then the table knows all flows of theirs. */
	if (with_convictions)
		error = read_convictions(reg, court);
	if (!error)
		error = array_map_see(reg->flows, FLOWS_SIZE, (const void **)&court->flows);
	court->taken_ns = clock_now();
	if (!error)
		return 1;
	court_free(court);
	return error;
}

void court_free(struct court *court)
{
	if (court->flows)
		munmap((void *)court->flows, FLOWS_SIZE);
	free(court->convictions);
	*court = (struct court){};
}

/* A flow as it is at this moment: packets and other tools go on. */
static struct dualpi2_flow flow_now(const struct dualpi2_flow *seen)
{
	const struct dualpi2_flow flow = *seen;

	__asm__ volatile("" : : "r"(&flow) : "memory"); /* it is not read again */
	return flow;
}

/* ---- flows ----------------------------------------------------------------------------- */

static bool is_at(const struct dualpi2_flow *flow, const struct sample *sample)
{
	const struct dualpi2_stats *stats = &sample->total.stats;

	return flow->id && flow->qdisc == flow_qdisc(stats->number, stats->since_ns);
}

/* Does the guard send its packets to C? */
static bool is_out(const struct dualpi2_flow *flow, const struct sample *sample, __u64 now)
{
	const struct dualpi2_stats *stats = &sample->total.stats;
	const __u64 age = stats->c.head_age_ns;

	return stay_lasts(&flow->guard.stay, age ? stats->refreshed_ns - age : 0, now);
}

struct guarded guarded_at(const struct court *court, const struct sample *sample)
{
	const struct dualpi2_guard *guard = &sample->total.stats.guard;
	struct guarded guarded = { .is_known = true };

	for (size_t i = 0; i < DUALPI2_FLOWS; i++) {
		struct dualpi2_flow flow;
		__u64 score;

		if (!is_at(&court->flows[i], sample))
			continue;
		flow = flow_now(&court->flows[i]);
		guarded.convicts += is_out(&flow, sample, court->taken_ns);
		score = guard_score(&flow.guard, guard->blame_max_ns, guard->stricter_max,
				    court->taken_ns);
		if (score > guarded.worst)
			guarded.worst = score;
	}
	return guarded;
}

static void add(struct guarded *sum, const struct guarded *more)
{
	sum->is_known &= more->is_known;
	sum->convicts += more->convicts;
	if (more->worst > sum->worst)
		sum->worst = more->worst;
}

/* Of the queues of an mq, which follow their sum. */
static void add_up(const struct samples *list, struct sample *sum)
{
	sum->guarded = (struct guarded){ .is_known = true };
	for (size_t i = 0; i < list->count; i++) {
		const struct sample *queue = &list->items[i];

		if (!queue->is_sum && queue->key.ifindex == sum->key.ifindex)
			add(&sum->guarded, &queue->guarded);
	}
}

void guarded_look(const struct registrations *regs, struct samples *list)
{
	struct court courts[AQMS_MAX] = {};
	bool is_read[AQMS_MAX] = {};

	for (size_t i = 0; i < list->count; i++) {
		struct sample *sample = &list->items[i];
		size_t aqm;

		if (sample->is_sum)
			continue;
		sample->guarded.is_known = !sample->total.stats.params.guard;
		if (sample->guarded.is_known) /* it is off */
			continue;
		for (aqm = 0; aqm < regs->count && regs->of[aqm].aqm != sample->aqm;)
			aqm++;
		if (aqm == regs->count)
			continue;
		if (!is_read[aqm])
			court_read(&regs->of[aqm], false, &courts[aqm]);
		is_read[aqm] = true;
		if (courts[aqm].flows)
			sample->guarded = guarded_at(&courts[aqm], sample);
	}
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].is_sum)
			add_up(list, &list->items[i]);
	}
	for (size_t i = 0; i < regs->count; i++)
		court_free(&courts[i]);
}

/* ---- convictions --------------------------------------------------------------------- */

/* Is it a whole one, of this qdisc? */
static bool is_of(const struct dualpi2_conviction *conviction, size_t place,
		  const struct sample *sample)
{
	return conviction->number && conviction->number == conviction->begun &&
	       conviction->number % DUALPI2_CONVICTIONS == place &&
	       !memcmp(&conviction->key, &sample->key, sizeof(sample->key)) &&
	       conviction->since_ns == sample->total.stats.since_ns;
}

/* What is known of the flow now; NULL: nothing any more. It has one of two places (flow_of() of
 * bpf/flows.bpf.h).
 */
static const struct dualpi2_flow *find_flow(const struct court *court, const struct sample *sample,
					    __u32 id)
{
	const __u32 places[] = { id, id >> 16 };

	for (size_t i = 0; i < 2; i++) {
		const struct dualpi2_flow *flow = &court->flows[places[i] % DUALPI2_FLOWS];

		if (flow->id == id && is_at(flow, sample))
			return flow;
	}
	return NULL;
}

static int compare(const void *one, const void *other)
{
	const struct convict *a = one, *b = other;

	return a->conviction->number < b->conviction->number ? 1 : -1;
}

static struct convict judge(const struct court *court, const struct sample *sample,
			    const struct dualpi2_conviction *conviction)
{
	const struct dualpi2_flow *seen = find_flow(court, sample, conviction->flow);
	struct convict convict = { .conviction = conviction };
	struct dualpi2_flow flow;

	if (!seen)
		return convict;
	flow = flow_now(seen);
	if (!is_out(&flow, sample, court->taken_ns))
		return convict;
	convict.is_out = true;
	if (flow.guard.stay.until_ns > court->taken_ns)
		convict.left_ns = flow.guard.stay.until_ns - court->taken_ns;
	return convict;
}

size_t convicts_of(const struct court *court, const struct sample *sample, struct convict *convicts)
{
	size_t all = 0, found = 0;

	for (size_t i = 0; i < DUALPI2_CONVICTIONS; i++) {
		if (is_of(&court->convictions[i], i, sample))
			convicts[all++].conviction = &court->convictions[i];
	}
	qsort(convicts, all, sizeof(*convicts), compare);
	for (size_t i = 0; i < all; i++) {
		size_t k = 0;

		while (k < found && convicts[k].conviction->flow != convicts[i].conviction->flow)
			k++;
		if (k == found) /* no later one of this flow */
			convicts[found++] = judge(court, sample, convicts[i].conviction);
	}
	return found;
}
