// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One link for the queues of several CPUs (share.h), by threads that send at the same time: they
 * take its clocks as the qdiscs do, and what they send together is what the link carries, in every
 * interval, while its rate changes.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "share.h"

#define SENDERS 4
#define FRAME 1500ULL
#define RATE 25000000ULL /* bytes/s: 60 us a frame */
#define RUN_NS 600000000ULL
#define MS 1000000ULL
#define WAITING 8 /* frames that each keeps waiting */
#define SENT_MAX 40000

struct departure {
	__u64 work; /* W when it was found due */
	__u64 bytes;
};

struct sender {
	pthread_t thread;
	bool in_l;
	struct share_queue queue;
	__u32 slot[WAITING];
	__u64 since_ns[WAITING];
	unsigned int first, waits, moved;
	size_t n_sent;
	struct departure sent[SENT_MAX];
};

static struct share share;
static struct sender senders[SENDERS];
static __u64 end_ns;

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000ULL + (__u64)now.tv_nsec;
}

static __u64 *clock_of(const struct sender *sender)
{
	return sender->in_l ? &share.l_end : &share.c_end;
}

static void enqueue(struct sender *sender, __u64 now, __u64 at)
{
	const unsigned int place = (sender->first + sender->waits) % WAITING;

	if (!sender->waits)
		sender->queue.left = 0;
	sender->slot[place] = share_enter(clock_of(sender), at, share_work_of(FRAME));
	sender->since_ns[place] = now;
	sender->waits++;
	__sync_fetch_and_add(&share.held, SHARE_PACKET + FRAME);
}

/* The head may leave; `at`: of its clock. */
static bool is_due(struct sender *sender, __u64 now, __u64 at)
{
	const __u64 waits = share_work_of(sender->waits * FRAME);
	const unsigned int place = sender->first % WAITING;
	__u64 start;

	if (share_at_once(&sender->queue, sender->slot[place], now - sender->since_ns[place]))
		return true;
	start = share_start(&sender->queue, sender->slot[place], at);
	if (share_ahead(at, start) > share_pace(&share)->slack) {
		share_move(clock_of(sender), &sender->queue, at,
			   sender->in_l ? 0 : share_pace(&share)->slack, waits,
			   share_work_of(share.held & SHARE_BYTES) - waits);
		sender->moved++;
		start = sender->queue.next;
	}
	return !share_ahead(start, at);
}

static void send_head(struct sender *sender, __u64 work)
{
	assert_true(sender->n_sent < SENT_MAX);
	sender->sent[sender->n_sent++] = (struct departure){ work, FRAME };
	share_leave(&sender->queue, share_work_of(FRAME));
	sender->first++;
	sender->waits--;
	__sync_fetch_and_sub(&share.held, SHARE_PACKET + FRAME);
	if (sender->in_l)
		__sync_fetch_and_add(&share.l_sent, share_work_of(FRAME));
}

static void *run(void *data)
{
	struct sender *sender = data;
	__u64 now, work, at;

	while ((now = now_ns()) < end_ns) {
		work = share_work(share_pace(&share), now);
		at = share_at(&share, sender->in_l, work);
		if (sender->waits < WAITING)
			enqueue(sender, now, at);
		if (is_due(sender, now, at))
			send_head(sender, work);
		else
			sched_yield();
	}
	return NULL;
}

static int by_work(const void *one, const void *other)
{
	const __s64 later = (__s64)(((const struct departure *)one)->work -
				    ((const struct departure *)other)->work);

	return (later > 0) - (later < 0);
}

/* Bytes by which the link was ever ahead of what it can carry: the most that was sent in any
 * interval beyond that.
 */
static __u64 most_ahead(struct departure *sent, size_t count)
{
	__u64 level = 0, most = 0, passed;

	qsort(sent, count, sizeof(*sent), by_work);
	for (size_t i = 0; i < count; i++) {
		passed = i ? (sent[i].work - sent[i - 1].work) >> SHARE_FRACTION : 0;
		level = (level > passed ? level - passed : 0) + sent[i].bytes;
		if (level > most)
			most = level;
	}
	return most;
}

/* All together, with so many senders in L; the rate changes `changes` times. */
static void send_together(unsigned int in_l, unsigned int changes)
{
	static struct departure all[SENDERS * SENT_MAX];
	const __u64 start_ns = now_ns();
	unsigned int changed = 0;
	size_t count = 0;

	memset(&share, 0, sizeof(share));
	share.rate = RATE;
	share.pace[0] = share_pace_make(RATE, start_ns, 0);
	end_ns = start_ns + RUN_NS;
	for (unsigned int i = 0; i < SENDERS; i++) {
		memset(&senders[i], 0, sizeof(senders[i]));
		senders[i].in_l = i < in_l;
		assert_int_equal(pthread_create(&senders[i].thread, NULL, run, &senders[i]), 0);
	}
	while (changed < changes) {
		const __u64 at_ns = start_ns + RUN_NS * ++changed / (changes + 1);

		while (now_ns() < at_ns)
			sched_yield();
		assert_true(share_set_rate(&share, changed % 2 ? RATE / 2 : RATE, now_ns()));
	}
	for (unsigned int i = 0; i < SENDERS; i++) {
		pthread_join(senders[i].thread, NULL);
		memcpy(all + count, senders[i].sent, senders[i].n_sent * sizeof(*all));
		count += senders[i].n_sent;
	}
	print_message("%zu frames, at most %llu bytes ahead; moved %u %u %u %u\n", count,
		      most_ahead(all, count), senders[0].moved, senders[1].moved, senders[2].moved,
		      senders[3].moved);
	assert_true(count > 100);
	/* Each may be a frame ahead of what another one is about to say; and one that has moved
	 * sends what it still has ahead as if that came evenly.
	 */
	assert_true(most_ahead(all, count) <=
		    RATE / (1000000000ULL / SHARE_SLACK_NS) + (SENDERS + 1 + WAITING) * FRAME);
	assert_true(count * FRAME <= RATE / 1000 * (RUN_NS / MS) + (SENDERS + 1) * FRAME);
}

TEST(all_in_c)
{
	send_together(0, 0);
}

TEST(some_in_l)
{
	send_together(1, 0);
}

TEST(while_the_rate_changes)
{
	send_together(1, 60);
}

/* The clock is where all claims have left it: each took as much as it asked for, from where no
 * other one has.
 */
static void *claim_many(void *data)
{
	__u64 *sum = data;

	for (unsigned int i = 0; i < 200000; i++) {
		share_claim(&share.c_end, 0, 1 + i % 7);
		*sum += 1 + i % 7;
	}
	return NULL;
}

TEST(no_claim_is_lost)
{
	__u64 sums[SENDERS] = {}, sum = 0;

	share.c_end = 5;
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_create(&senders[i].thread, NULL, claim_many, &sums[i]);
	for (unsigned int i = 0; i < SENDERS; i++) {
		pthread_join(senders[i].thread, NULL);
		sum += sums[i];
	}
	assert_int_equal(share.c_end, 5 + sum);
}
