// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handshakes, because every peer answers them by its kernel alone, and because their packets are
 * too small to queue behind each other.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base_rtt/commands.h"
#include "cli/format.h"
#include "cli/message.h"
#include "kernel/peer.h"

#define HANDSHAKES 20
#define ENOUGH 10     /* with an RTT: fewer say little */
#define PAUSE_MS 50   /* between two: over a second, what comes and goes on the path is seen */
#define PORT "5009"   /* of tcp-prague sink, as for its check */
#define LONG_US 10000 /* beyond a data centre */
#define US 1000	      /* ns */

struct samples {
	__u32 rtts_us[HANDSHAKES];
	int count;
};

/* The RTT of a connection, us; 0: the kernel knows none, as after a SYN was sent twice. */
static __u32 rtt_of(int fd)
{
	struct tcp_info info = {};
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || info.tcpi_min_rtt == UINT32_MAX)
		return 0;
	return info.tcpi_min_rtt;
}

static bool take_sample(const struct addrinfo *address, struct samples *samples)
{
	int fd = peer_connect(address, NULL);
	__u32 rtt_us;

	if (fd < 0)
		return false;
	rtt_us = rtt_of(fd);
	if (rtt_us)
		samples->rtts_us[samples->count++] = rtt_us;
	close(fd);
	return true;
}

/* All of one address: the first that answers, which is returned. NULL, with errno: none. */
static const struct addrinfo *take_samples(const struct addrinfo *addresses,
					   struct samples *samples)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
	const struct addrinfo *one = addresses;

	while (one && !take_sample(one, samples))
		one = one->ai_next;
	for (int i = 1; one && i < HANDSHAKES; i++) {
		nanosleep(&pause, NULL);
		take_sample(one, samples);
	}
	return one;
}

static int compare(const void *one, const void *other)
{
	const __u32 *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

static const char *trust(const struct samples *samples, __u32 lowest_us, __u32 median_us)
{
	if (samples->count < ENOUGH)
		return "poor: few handshakes have an RTT; packets were lost";
	if (median_us > 2 * lowest_us)
		return "poor: packets waited most of the time; measure again when the path is idle";
	if (median_us > lowest_us + lowest_us / 4)
		return "fair: packets waited at times";
	return "good: the handshakes agree";
}

/* To two digits, upwards. */
static __u32 round_up(__u32 value)
{
	__u32 digit = 1;

	while (value / digit >= 100)
		digit *= 10;
	return (value + digit - 1) / digit * digit;
}

static void print_proposal(const struct addrinfo *address, __u32 lowest_us)
{
	char host[NI_MAXHOST] = "?", time[FORMAT_MAX];

	getnameinfo(address->ai_addr, address->ai_addrlen, host, sizeof(host), NULL, 0,
		    NI_NUMERICHOST);
	say_line("  tcp-base-rtt add %s %s", host,
		 format_time((uint64_t)round_up(2 * lowest_us) * US, time));
}

static bool propose(const char *peer, const struct addrinfo *address, struct samples *samples)
{
	char lowest[FORMAT_MAX], median[FORMAT_MAX];
	__u32 lowest_us, median_us;

	if (!samples->count)
		return fail(0, "%s: the kernel shows no RTT of its connections", peer);
	qsort(samples->rtts_us, samples->count, sizeof(samples->rtts_us[0]), compare);
	lowest_us = samples->rtts_us[0];
	median_us = samples->rtts_us[samples->count / 2];
	say_line("%s: RTT %s at least, median %s, of %d handshakes", peer,
		 format_time((uint64_t)lowest_us * US, lowest),
		 format_time((uint64_t)median_us * US, median), samples->count);
	printf("  %s\n", trust(samples, lowest_us, median_us));
	printf("  a queue that stood all the time would not be seen\n");
	if (lowest_us > LONG_US)
		printf("  WARNING: TCP-NV is for the RTTs of a data centre\n");
	printf("twice the RTT leaves NV the room for full-sized packets and for bursts:\n");
	print_proposal(address, lowest_us);
	return true;
}

bool base_rtt_measure(const char *peer)
{
	struct samples samples = {};
	const struct addrinfo *answered;
	struct addrinfo *addresses;
	const char *why;
	bool done;

	addresses = peer_addresses(peer, PORT, &why);
	if (!addresses)
		return fail(0, "%s: %s", peer, why);
	answered = take_samples(addresses, &samples);
	done = answered ? propose(peer, answered, &samples)
			: fail(errno, "%s: cannot connect: %s", peer, strerror(errno));
	freeaddrinfo(addresses);
	return done;
}
