// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The delay of every packet between two interfaces of a router.
 *
 * Usage: tap BEFORE AFTER: what arrives on BEFORE and leaves through AFTER, seen through
 * packet sockets: on arrival when the kernel takes the frame in, at departure behind the
 * qdisc, when the frame is handed to the device. The timestamps are the kernel's.
 *
 * Says "ready" when it sees all packets. Each line on standard input then begins a phase of
 * that name; an empty line ends the last one. At the end of the input it prints what it saw
 * as one JSON object (README.md has its members).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "match.h"

/* Frames that wait for us in each ring: 0.4 s of 1 Gbit/s. */
#define RING_FRAMES 32768U
#define FRAME_BYTES 192U
#define BLOCK_BYTES (1U << 20)
#define FRAMES_IN_BLOCK (BLOCK_BYTES / FRAME_BYTES)
#define RING_BLOCKS (RING_FRAMES / FRAMES_IN_BLOCK + 1)
/* Ethernet, IPv4 with its longest options and the fixed part of TCP. */
#define CAPTURED_BYTES 96U
#define INTERVAL_MS 10 /* between looks into the rings */

struct ring {
	int fd;
	uint8_t *memory;
	uint32_t next;
	uint64_t packets;
	uint32_t largest; /* bytes of a frame */
};

static void die(const char *what)
{
	fprintf(stderr, "tap: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void set_option(int fd, int level, int option, const void *value, socklen_t len)
{
	if (setsockopt(fd, level, option, value, len))
		die("setsockopt");
}

/* Only packets of one type (PACKET_HOST, PACKET_OUTGOING), and only their headers. */
static void set_filter(int fd, unsigned char type)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, type, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, CAPTURED_BYTES),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	set_option(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void ring_open(struct ring *ring, const char *ifname, unsigned char type)
{
	struct tpacket_req request = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = RING_BLOCKS,
		.tp_frame_size = FRAME_BYTES,
		.tp_frame_nr = RING_BLOCKS * FRAMES_IN_BLOCK,
	};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(ifname),
	};
	int version = TPACKET_V2, yes = 1;

	if (!address.sll_ifindex)
		die(ifname);
	ring->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (ring->fd < 0)
		die("packet socket");
	set_filter(ring->fd, type);
	set_option(ring->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version));
	/* Tells the size of the segments of a GSO packet. */
	set_option(ring->fd, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof(yes));
	/* Frames are stamped when they arrive, not when they get here. */
	set_option(ring->fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes));
	set_option(ring->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request));
	ring->memory = mmap(NULL, (size_t)BLOCK_BYTES * RING_BLOCKS, PROT_READ | PROT_WRITE,
			    MAP_SHARED, ring->fd, 0);
	if (ring->memory == MAP_FAILED)
		die("packet ring");
	if (bind(ring->fd, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
}

static struct tpacket2_hdr *ring_frame(const struct ring *ring)
{
	uint32_t block = ring->next / FRAMES_IN_BLOCK, place = ring->next % FRAMES_IN_BLOCK;

	return (struct tpacket2_hdr *)(ring->memory + (size_t)block * BLOCK_BYTES +
				       (size_t)place * FRAME_BYTES);
}

/* Hand over all packets of a ring up to a time. */
static void ring_drain(struct ring *ring, struct matcher *matcher, uint64_t until_ns,
		       void (*take)(struct matcher *matcher, const struct packet *packet))
{
	struct virtio_net_hdr virtio;
	struct tpacket2_hdr *header;
	struct packet packet;
	const uint8_t *frame;

	for (;;) {
		header = ring_frame(ring);
		if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			return;
		packet.ns = header->tp_sec * 1000000000ULL + header->tp_nsec;
		if (packet.ns > until_ns)
			return;
		frame = (const uint8_t *)header + header->tp_mac;
		memcpy(&virtio, frame - sizeof(virtio), sizeof(virtio));
		packet.gso_size = virtio.gso_type == VIRTIO_NET_HDR_GSO_NONE ? 0 : virtio.gso_size;
		packet.len = header->tp_len;
		if (packet_parse(frame, header->tp_snaplen, &packet)) {
			take(matcher, &packet);
			ring->packets++;
			if (packet.len > ring->largest)
				ring->largest = packet.len;
		}
		__atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		ring->next = (ring->next + 1) % (RING_BLOCKS * FRAMES_IN_BLOCK);
	}
}

/* What has left by now has arrived by now, so its arrival is in the ring `before`. */
static void drain(struct ring *before, struct ring *after, struct matcher *matcher)
{
	uint64_t now = now_ns();

	ring_drain(before, matcher, UINT64_MAX, matcher_arrival);
	ring_drain(after, matcher, now, matcher_departure);
}

/* Begin the phases that the input names. False: the input has ended. */
static bool read_commands(struct matcher *matcher)
{
	static char line[256];
	static size_t used;
	ssize_t got = read(STDIN_FILENO, line + used, sizeof(line) - used);
	char *end;

	if (got <= 0)
		return false;
	used += (size_t)got;
	while ((end = memchr(line, '\n', used))) {
		*end = '\0';
		if (!matcher_begin_phase(matcher, line, now_ns())) {
			fprintf(stderr, "tap: no room for phase %s\n", line);
			exit(1);
		}
		used -= (size_t)(end + 1 - line);
		memmove(line, end + 1, used);
	}
	return true;
}

static void follow(struct ring *before, struct ring *after, struct matcher *matcher)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	bool more = true;

	while (more) {
		if (poll(&input, 1, INTERVAL_MS) > 0)
			more = read_commands(matcher);
		drain(before, after, matcher);
	}
}

static void print_address(const char *key, uint32_t address)
{
	struct in_addr in = { .s_addr = htonl(address) };

	printf("\"%s\":\"%s\",", key, inet_ntoa(in));
}

static void print_counts(const char *key, const uint64_t count[ECN_CODEPOINTS])
{
	printf("\"%s\":[%lu,%lu,%lu,%lu],", key, count[0], count[1], count[2], count[3]);
}

static void print_delays(const char *key, const struct class_figures *figures)
{
	const char *comma = "";

	printf("\"%s\":{\"sum_ns\":%lu,\"max_ns\":%lu,\"buckets\":[", key, figures->delay_sum_ns,
	       figures->delay_max_ns);
	for (uint32_t i = 0; i < DELAY_BUCKETS; i++) {
		if (!figures->delay[i])
			continue;
		printf("%s[%lu,%lu,%u]", comma, delay_edge(i), delay_edge(i + 1),
		       figures->delay[i]);
		comma = ",";
	}
	printf("]}");
}

static void print_phase(const char *name, const struct phase_figures *figures)
{
	printf("\"%s\":{", name);
	print_counts("arrived", figures->arrived);
	print_counts("left", figures->left);
	print_counts("marked", figures->marked);
	printf("\"payload_bytes\":%lu,\"frame_bytes\":%lu,\"reordered\":%lu,"
	       "\"largest_before\":%u,\"largest_after\":%u,\"delay\":{",
	       figures->payload_bytes, figures->frame_bytes, figures->reordered,
	       figures->largest_before, figures->largest_after);
	print_delays("l", &figures->class[CLASS_L]);
	printf(",");
	print_delays("c", &figures->class[CLASS_C]);
	printf("}}");
}

static void print_series(const struct stream *stream)
{
	const char *comma = "";

	printf("\"series\":[");
	for (size_t i = 0; i < MATCH_BINS; i++) {
		const struct bin *bin = &stream->bin[i];

		if (!bin->bytes)
			continue;
		printf("%s[%zu,%u,%u,%u,%lu,%lu]", comma, i, bin->packets, bin->bytes, bin->marked,
		       bin->delay_sum_ns / 1000, bin->delay_max_ns / 1000);
		comma = ",";
	}
	printf("]");
}

static void print_stream(const struct stream *stream, const struct matcher *matcher)
{
	const char *comma = "";
	size_t phases;
	const struct phase *phase = matcher_phases(matcher, &phases);

	printf("{");
	print_address("source", stream->source);
	print_address("destination", stream->destination);
	printf("\"protocol\":%u,\"phases\":{", stream->protocol);
	for (size_t i = 0; i < phases; i++) {
		if (!phase[i].name[0])
			continue;
		printf("%s", comma);
		print_phase(phase[i].name, &stream->phase[i]);
		comma = ",";
	}
	printf("},");
	print_series(stream);
	printf("}");
}

static void print_ring(const char *key, const struct ring *ring)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (getsockopt(ring->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		die("packet statistics");
	printf("\"%s\":{\"packets\":%lu,\"missed\":%u,\"largest\":%u},", key, ring->packets,
	       stats.tp_drops, ring->largest);
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void print_phases(const struct matcher *matcher, uint64_t start_ns)
{
	size_t count;
	const struct phase *phase = matcher_phases(matcher, &count);

	printf("\"phases\":[");
	for (size_t i = 0; i < count; i++)
		printf("%s[\"%s\",%.6f]", i ? "," : "", phase[i].name,
		       phase[i].begin_ns ? (double)(phase[i].begin_ns - start_ns) / 1e9 : 0.0);
	printf("],");
}

static void print_result(const struct ring *before, const struct ring *after,
			 const struct matcher *matcher, uint64_t start_ns)
{
	const struct stream *stream;
	struct rusage usage;
	size_t streams;

	getrusage(RUSAGE_SELF, &usage);
	printf("{");
	print_ring("before", before);
	print_ring("after", after);
	printf("\"cpu_s\":%.3f,", seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
	printf("\"unmatched\":%lu,\"bin_s\":%g,", matcher_unmatched(matcher), MATCH_BIN_NS / 1e9);
	print_phases(matcher, start_ns);
	printf("\"streams\":[");
	stream = matcher_streams(matcher, &streams);
	for (size_t i = 0; i < streams; i++) {
		if (i)
			printf(",");
		print_stream(&stream[i], matcher);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	struct ring before = {}, after = {};
	uint64_t start_ns = now_ns();
	struct matcher *matcher;

	if (argc != 3) {
		fprintf(stderr, "usage: tap BEFORE AFTER\n");
		return 2;
	}
	matcher = matcher_new(start_ns);
	if (!matcher)
		die("memory");
	/* In this order: a packet that is seen leaving has then been seen arriving. */
	ring_open(&before, argv[1], PACKET_HOST);
	ring_open(&after, argv[2], PACKET_OUTGOING);
	puts("ready");
	fflush(stdout);
	follow(&before, &after, matcher);
	print_result(&before, &after, matcher, start_ns);
	matcher_free(matcher);
	return fflush(stdout) ? 1 : 0;
}
