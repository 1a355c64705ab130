// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/crowd.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/pin_dir.h"
#include "pinned/subscriber_use.h"
#include "sample/clock.h"

#define BITS_IN_A_BYTE 8

/* ---- to read --------------------------------------------------------------------- */

static void add_queue(struct subscriber_queue *sum, const struct subscriber_queue *queue)
{
	sum->bytes += queue->bytes;
	sum->marks += queue->marks;
	sum->drops += queue->drops;
}

/* A number may have been somebody else's, or have had no packet yet. */
static void forget_others(const struct subscribers *list, struct subscriber_use *use)
{
	SUBSCRIBERS_FOR(each, list) {
		if (use[each->number].owner != each->owner)
			use[each->number] = (struct subscriber_use){ .owner = each->owner };
	}
}

static void sum_up_parents(const struct subscribers *list, struct subscriber_use *use)
{
	SUBSCRIBERS_FOR(each, list) {
		const struct subscriber *parent = each->plan.parent;

		if (!parent)
			continue;
		add_queue(&use[parent->number].l, &use[each->number].l);
		add_queue(&use[parent->number].c, &use[each->number].c);
	}
}

static bool read_use(struct crowd *crowd)
{
	crowd->use = subscriber_use_read(&crowd->maps);
	crowd->time_ns = clock_now();
	if (!crowd->use)
		return false;
	forget_others(&crowd->list, crowd->use);
	sum_up_parents(&crowd->list, crowd->use);
	return true;
}

static bool read_list(struct crowd *crowd)
{
	if (!in_force_read(&crowd->maps, &crowd->list))
		return false;
	crowd->prefixes = subscribers_by_owner(&crowd->list);
	return crowd->prefixes;
}

int crowd_read(const struct registrations *regs, const struct sample *sample, struct crowd *crowd)
{
	const struct registration *reg = registration_of(regs, sample->aqm);
	char place[PLACE_MAX];
	int found;

	*crowd = (struct crowd){ .sample = sample, .maps = SUBSCRIBER_MAPS_NONE };
	if (sample->aqm->variant != AQM_SUBSCRIBERS || sample->is_sum)
		return 0;
	if (reg->names < 0) {
		fail(0, "%s: its subscribers only the owner of " PIN_DIR " may see: run it %s",
		     sample_place(sample, place),
		     privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
		return -1;
	}
	found = subscriber_maps_open(reg, &sample->key, &crowd->maps);
	if (found <= 0)
		return found;
	return read_list(crowd) && read_use(crowd) ? 1 : -1;
}

bool crowd_read_again(struct crowd *crowd)
{
	free(crowd->before);
	crowd->before = crowd->use;
	crowd->before_ns = crowd->time_ns;
	return read_use(crowd);
}

void crowd_free(struct crowd *crowd)
{
	subscriber_maps_close(&crowd->maps);
	free(crowd->prefixes);
	free(crowd->use);
	free(crowd->before);
	subscribers_free(&crowd->list);
}

/* ---- use ------------------------------------------------------------------------- */

static __u64 bytes_of(const struct subscriber_use *use)
{
	return use ? use->l.bytes + use->c.bytes : 0;
}

__u64 crowd_bytes(const struct crowd *crowd, const struct subscriber *subscriber)
{
	const __u64 now = bytes_of(&crowd->use[subscriber->number]);
	const __u64 before = crowd->before ? bytes_of(&crowd->before[subscriber->number]) : 0;

	return now > before ? now - before : 0;
}

double crowd_speed(const struct crowd *crowd, const struct subscriber *subscriber)
{
	const __u64 time_ns = crowd->time_ns - crowd->before_ns;

	return (double)crowd_bytes(crowd, subscriber) * BITS_IN_A_BYTE *
	       (double)DUALPI2_NSEC_PER_SEC / (double)time_ns;
}

static int by_bytes(const void *a, const void *b, void *crowd)
{
	const struct subscriber *const *first = a, *const *second = b;
	const __u64 of_first = crowd_bytes(crowd, *first), of_second = crowd_bytes(crowd, *second);

	if (of_first != of_second)
		return of_first > of_second ? -1 : 1;
	return (*first > *second) - (*first < *second);
}

const struct subscriber **crowd_by_use(const struct crowd *crowd, size_t most)
{
	const struct subscriber **sorted = calloc(crowd->list.count + 1, sizeof(*sorted));
	size_t count = 0;

	if (!sorted) {
		fail(ENOMEM, "no memory for subscribers");
		return NULL;
	}
	SUBSCRIBERS_FOR(each, &crowd->list) {
		if (!each->is_parent)
			sorted[count++] = each;
	}
	qsort_r(sorted, count, sizeof(*sorted), by_bytes, (void *)crowd);
	if (count > most)
		sorted[most] = NULL;
	return sorted;
}
