// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* In place of user/sample/crowd.c: subscribers of the qdiscs of pretend.c, as many as
 *$DUALPI2_CROWD says for each qdisc ("24", or "24,3" of the first two). One of them, s02, comes
 *with the third sample. Number n has the plan n Mbit/s and the parent "site", and a step brings
 *
 *	bytes	n * 12500, which is n * 100 kbit/s, in L if n is odd, else in C
 *	P99	(100 - n) ms, of that queue
 *	drops	n modulo 3
 *	marks	2 * n
 *
 * and 25000 bytes of nobody's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/crowd.h"

#define BYTES 12500
#define NOBODYS 25000
#define PLAN 125000 /* 1 Mbit/s */
#define OWNER 7
#define SITE 1	      /* its number; those of subscribers follow */
#define COMES 2	      /* n of the one that comes */
#define COMES_AFTER 2 /* samples */

static size_t crowd_size(size_t qdisc)
{
	const char *sizes = getenv("DUALPI2_CROWD");

	for (; sizes && qdisc; qdisc--)
		sizes = strchr(sizes, ',') ? strchr(sizes, ',') + 1 : NULL;
	return sizes ? strtoul(sizes, NULL, 10) : 0;
}

static void use(struct crowd *crowd, __u64 steps)
{
	crowd->use = calloc(crowd->maps.room + 1, sizeof(*crowd->use));
	crowd->time_ns = steps * DUALPI2_NSEC_PER_SEC;
	crowd->use[0].c.bytes = steps * NOBODYS;
	crowd->use[SITE].owner = OWNER;
	SUBSCRIBERS_FOR(each, &crowd->list) {
		struct subscriber_use *of = &crowd->use[each->number];
		const __u64 n = each->number - SITE, since = n == COMES ? COMES_AFTER : 0;

		if (each->is_parent)
			continue;
		of->owner = OWNER;
		*(n % 2 ? &of->l : &of->c) = (struct subscriber_queue){
			.bytes = (steps - since) * n * BYTES,
			.marks = (steps - since) * 2 * n,
			.drops = (steps - since) * (n % 3),
			.p99_ns = (100 - n) * DUALPI2_NSEC_PER_MSEC,
		};
	}
	crowd_sum_up(&crowd->list, crowd->use);
}

static void add(struct subscribers *list, const char *name, __u32 number, struct subscriber *parent)
{
	struct subscriber *each = subscribers_enter(list, name, !parent);

	each->number = number;
	each->owner = OWNER;
	each->plan.parent = parent;
	each->plan.down = parent ? (number - SITE) * PLAN : 0;
}

static void fill(struct crowd *crowd, const struct sample *sample, size_t size)
{
	const __u64 steps = sample->total.taken_ns / DUALPI2_NSEC_PER_SEC - 1;
	char name[16];

	*crowd = (struct crowd){ .sample = sample, .maps = SUBSCRIBER_MAPS_NONE };
	crowd->maps.room = SITE + size;
	subscribers_begin(&crowd->list);
	add(&crowd->list, "site", SITE, NULL);
	for (__u32 n = 1; n <= size; n++) {
		snprintf(name, sizeof(name), "s%02u", n);
		if (n != COMES || steps > COMES_AFTER)
			add(&crowd->list, name, SITE + n, crowd->list.of);
	}
	use(crowd, steps);
}

bool crowds_read(const struct registrations *regs, const struct samples *list, bool with_prefixes,
		 struct crowds *crowds)
{
	(void)regs;
	(void)with_prefixes;
	*crowds = (struct crowds){ .of = calloc(list->count + 1, sizeof(*crowds->of)) };
	for (size_t i = 0; i < list->count; i++) {
		if (crowd_size(i))
			fill(&crowds->of[crowds->count++], &list->items[i], crowd_size(i));
	}
	return true;
}

/* A step later. */
bool crowds_read_again(const struct registrations *regs, struct crowds *crowds)
{
	(void)regs;
	for (size_t i = 0; i < crowds->count; i++) {
		struct crowd *crowd = &crowds->of[i];
		const struct crowd earlier = *crowd;

		use(crowd, earlier.time_ns / DUALPI2_NSEC_PER_SEC + 1);
		crowd_since(crowd, &earlier);
		free(earlier.use);
	}
	return true;
}

void crowds_free(struct crowds *crowds)
{
	for (size_t i = 0; i < crowds->count; i++) {
		free(crowds->of[i].use);
		free(crowds->of[i].recent);
		subscribers_free(&crowds->of[i].list);
	}
	free(crowds->of);
}
