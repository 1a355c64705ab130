// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "sample/crowd.h"

#define BITS_IN_A_BYTE 8

const struct subscriber crowd_nobody = { .number = SUBSCRIBER_NOBODY };

/* ---- parents --------------------------------------------------------------------- */

static void add_queue(struct subscriber_queue *sum, const struct subscriber_queue *queue)
{
	sum->bytes += queue->bytes;
	sum->marks += queue->marks;
	sum->drops += queue->drops;
}

void crowd_sum_up(const struct subscribers *list, struct subscriber_use *use)
{
	SUBSCRIBERS_FOR(each, list) {
		const struct subscriber *parent = each->plan.parent;

		if (!parent)
			continue;
		add_queue(&use[parent->number].l, &use[each->number].l);
		add_queue(&use[parent->number].c, &use[each->number].c);
	}
}

/* ---- since before ---------------------------------------------------------------- */

static void subtract(__u64 *now, __u64 before)
{
	*now -= before < *now ? before : *now;
}

static void subtract_queue(struct subscriber_queue *now, const struct subscriber_queue *before)
{
	subtract(&now->bytes, before->bytes);
	subtract(&now->marks, before->marks);
	subtract(&now->drops, before->drops);
	if (!now->bytes)
		now->p99_ns = 0;
}

/* Who has come since then began with nothing. */
static void take_recent(struct crowd *later, const struct crowd *earlier,
			const struct subscriber *each)
{
	const __u32 number = each->number;
	struct subscriber_use *recent = &later->recent[number];

	*recent = later->use[number];
	if (number > earlier->maps.room || earlier->use[number].owner != recent->owner)
		return;
	subtract_queue(&recent->l, &earlier->use[number].l);
	subtract_queue(&recent->c, &earlier->use[number].c);
}

bool crowd_since(struct crowd *later, const struct crowd *earlier)
{
	later->recent = calloc((size_t)later->maps.room + 1, sizeof(*later->recent));
	if (!later->recent)
		return fail(ENOMEM, "no memory for subscribers");
	later->recent_ns = later->time_ns - earlier->time_ns;
	take_recent(later, earlier, &crowd_nobody);
	/* Of a parent what those have used that it has now. */
	SUBSCRIBERS_FOR(each, &later->list) {
		if (!each->is_parent)
			take_recent(later, earlier, each);
	}
	crowd_sum_up(&later->list, later->recent);
	return true;
}

/* ---- use ------------------------------------------------------------------------- */

const struct subscriber_use *crowd_use(const struct crowd *crowd,
				       const struct subscriber *subscriber)
{
	return &(crowd->recent ?: crowd->use)[subscriber->number];
}

static __u64 bytes_of(const struct subscriber_use *use)
{
	return use->l.bytes + use->c.bytes;
}

double crowd_rate(const struct crowd *crowd, __u64 count)
{
	return crowd->recent_ns
		       ? (double)count * (double)DUALPI2_NSEC_PER_SEC / (double)crowd->recent_ns
		       : 0;
}

double crowd_speed(const struct crowd *crowd, const struct subscriber *subscriber)
{
	return crowd_rate(crowd, bytes_of(crowd_use(crowd, subscriber)) * BITS_IN_A_BYTE);
}

/* ---- order ----------------------------------------------------------------------- */

/* By what they are sorted, but for names. */
static __u64 weight(enum crowd_order order, const struct subscriber_use *use)
{
	switch (order) {
	case CROWD_BY_L_DELAY:
		return use->l.p99_ns;
	case CROWD_BY_C_DELAY:
		return use->c.p99_ns;
	case CROWD_BY_DROPS:
		return use->l.drops + use->c.drops;
	default:
		return bytes_of(use);
	}
}

struct sorting {
	const struct crowd *crowd;
	enum crowd_order order;
};

/* Those of the same weight, and names, from A on. */
static int compare(const void *a, const void *b, void *data)
{
	const struct subscriber *const *first = a, *const *second = b;
	const struct sorting *sorting = data;
	const __u64 of_first = weight(sorting->order, crowd_use(sorting->crowd, *first));
	const __u64 of_second = weight(sorting->order, crowd_use(sorting->crowd, *second));

	if (sorting->order != CROWD_BY_NAME && of_first != of_second)
		return of_first > of_second ? -1 : 1;
	return strcmp((*first)->name, (*second)->name);
}

size_t crowd_sort(const struct crowd *crowd, enum crowd_order order,
		  const struct subscriber **sorted)
{
	struct sorting sorting = { crowd, order };
	size_t count = 0;

	SUBSCRIBERS_FOR(each, &crowd->list)
		sorted[count++] = each;
	sorted[count++] = &crowd_nobody;
	qsort_r(sorted, count, sizeof(*sorted), compare, &sorting);
	return count;
}

const struct subscriber **crowd_top(const struct crowd *crowd, size_t most)
{
	const struct subscriber **top = calloc(crowd->list.count + 2, sizeof(*top));
	size_t count, kept = 0;

	if (!top) {
		fail(ENOMEM, "no memory for subscribers");
		return NULL;
	}
	count = crowd_sort(crowd, CROWD_BY_SPEED, top);
	for (size_t i = 0; i < count && kept < most; i++) {
		if (top[i] != &crowd_nobody && !top[i]->is_parent)
			top[kept++] = top[i];
	}
	top[kept++] = &crowd_nobody;
	top[kept] = NULL;
	return top;
}
