// SPDX-License-Identifier: GPL-2.0-only
/* What it costs a CPU that others write to the cache lines which it reads, in ns a packet: a struct
 * instance of the BPF programs on two CPUs of this machine, without the programs. In the lab this
 * cannot be seen: its guests have no caches.
 *
 * One thread writes what enqueue and dequeue write for an L packet. The other reads what the tcx
 * program reads for every packet. Or both write what a packet writes of a link that several queues
 * share (share.h).
 */
#include "tests/unit/programs_here.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "clock.bpf.h"
#include "instance.bpf.h"
#include "share.h"

/* So short a time is seldom interrupted, and the median of many ignores that it was. The lowest of
 * some rounds counts: other work on this machine only adds to them.
 */
#define SLICE_PACKETS 100
#define SLICES 200
#define SLICES_TRIED 1000000
#define ROUNDS 5
/* What else both do for a packet: turns of an empty loop. */
#define OTHER_WORK 60

/* A member, read or written as often as it is named. */
#define SEEN(member) (*(volatile __typeof__(member) *)&(member))

enum packets {
	NO_PACKETS,
	PACKETS,
	PACKETS_AMONG,	/* as if a member that they write stood among what every CPU reads */
	PACKETS_SHARED, /* through another queue of the same link */
};

static _Alignas(4096) struct instance instance;
static _Alignas(4096) struct share share;
static volatile enum packets on_the_other;
static volatile u64 passed; /* packets, on the other CPU */

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("two CPUs are needed");
		exit(1);
	}
}

static void work(void)
{
	for (volatile int i = 0; i < OTHER_WORK; i++)
		;
}

static void write_packet(struct instance *in, struct dualq *q)
{
	SEEN(q->l_counters.packets_in)++;
	SEEN(q->l_counters.bytes_in)++;
	SEEN(q->l.head_ns)++;
	SEEN(q->l_packets)++;
	SEEN(q->credit)++;
	SEEN(in->memory_used)++;
	SEEN(in->link.clock.shaper.free_ns)++;
	SEEN(q->l_counters.packets_out)++;
	SEEN(q->l_counters.bytes_out)++;
	SEEN(in->delays.l.bucket[0])++;
	if (on_the_other == PACKETS_AMONG)
		SEEN(in->classes_under)++;
	passed++;
}

/* As bpf/link/shared_clock.bpf.h for an L packet, in and out. */
static void write_link(void)
{
	const u64 work = share_work_of(1514);

	share_enter(&share.l_end, share_at(&share, true, 0), work);
	__atomic_fetch_add(&share.held, SHARE_PACKET + 1514, __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.memory, 2304, __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.l_packets, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.held, -(SHARE_PACKET + 1514), __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.memory, -2304, __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.l_packets, -1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&share.l_sent, work, __ATOMIC_RELAXED);
}

static void *pass_packets(void *unused)
{
	stay_on(0);
	for (;;) {
		work();
		if (on_the_other == PACKETS_SHARED) {
			write_link();
			passed++;
		} else if (on_the_other != NO_PACKETS) {
			write_packet(&instance, &instance.dualq);
		}
	}
	return unused;
}

static void read_instance(void)
{
	(void)SEEN(instance.root_of);
	(void)SEEN(instance.number);
	(void)SEEN(instance.flags_of_tos[1]);
}

static void read_queue_as_well(void)
{
	read_instance();
	(void)SEEN(instance.dualq.coupled.prob);
	(void)SEEN(instance.dualq.l_packets);
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const u64 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* ns a packet; of slices in which the other CPU did as much as this one, more or less. */
static double measure(enum packets packets, void (*packet)(void))
{
	static u64 slices[SLICES];
	u64 began, before, others;
	u32 found = 0, tried, i;

	on_the_other = packets;
	for (tried = 0; found < SLICES && tried < SLICES_TRIED; tried++) {
		before = passed;
		began = now_ns();
		for (i = 0; i < SLICE_PACKETS; i++) {
			work();
			packet();
		}
		slices[found] = now_ns() - began;
		others = passed - before;
		if (packets == NO_PACKETS ||
		    (others > SLICE_PACKETS / 4 && others < SLICE_PACKETS * 4))
			found++;
	}
	if (found < SLICES) {
		fprintf(stderr, "the CPUs are too busy with other work\n");
		exit(1);
	}
	qsort(slices, SLICES, sizeof(slices[0]), by_size);
	return (double)slices[SLICES / 2] / SLICE_PACKETS;
}

/* Of all rounds. */
static double least(enum packets packets, void (*packet)(void))
{
	double least = measure(packets, packet), ns;

	for (int round = 1; round < ROUNDS; round++) {
		ns = measure(packets, packet);
		if (ns < least)
			least = ns;
	}
	return least;
}

static void print_row(const char *name, void (*packet)(void))
{
	printf("| %s |", name);
	for (enum packets p = NO_PACKETS; p <= PACKETS_AMONG; p++)
		printf(" %.0f |", least(p, packet));
	printf("\n");
}

int main(void)
{
	pthread_t other;

	stay_on(1);
	if (pthread_create(&other, NULL, pass_packets, NULL)) {
		perror("no thread");
		return 1;
	}
	printf("| ns a packet, while the other CPU | does nothing | passes packets | "
	       "and writes among what is read |\n|---|---:|---:|---:|\n");
	print_row("what every CPU reads", read_instance);
	print_row("and p' and the backlog of L", read_queue_as_well);
	printf("\n| ns a packet, while the other CPU | does nothing | passes packets through the same "
	       "link |\n|---|---:|---:|\n");
	printf("| what a packet writes of a link that queues share | %.0f | %.0f |\n",
	       least(NO_PACKETS, write_link), least(PACKETS_SHARED, write_link));
	return 0;
}
