/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets seen before and after a bottleneck, matched: how long each one was in there.
 *
 * A packet is known by its connection and its IPv4 identification, which Linux counts up
 * for each packet of a connected TCP or UDP socket, retransmissions included; of an ICMP
 * echo by identifier and sequence number. A GSO packet stands for as many packets as it
 * has segments: segment n gets the identification of the whole plus n. So it does
 * not matter where between the two taps GSO packets are split, if at all.
 *
 * TCP's sequence number is compared as well: a wrong match would be seen. TCP packets with
 * the identification 0 count in bytes only: those without a connection all have it.
 */
#ifndef BENCH_MATCH_H
#define BENCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCH_STREAMS 256	  /* pairs of addresses, each with a protocol */
#define MATCH_PHASES 64		  /* periods that are measured apart */
#define MATCH_BINS 4096		  /* of the series over time */
#define MATCH_BIN_NS 100000000ULL /* 100 ms */

/* Delays are counted in buckets: the first ones 1 ns wide, from 128 ns on 64 in each power
 * of two. The last one takes all from 17 s up.
 */
#define DELAY_SUB_SHIFT 6
#define DELAY_SUBS (1U << DELAY_SUB_SHIFT)
#define DELAY_BITS 34
#define DELAY_BUCKETS ((DELAY_BITS - DELAY_SUB_SHIFT + 1) * DELAY_SUBS)

enum { ECN_CODEPOINTS = 4 }; /* Not-ECT, ECT(1), ECT(0), CE */

/* What a tap sees of an IPv4 packet. */
struct packet {
	uint64_t ns; /* when */
	uint32_t source;
	uint32_t destination;
	uint16_t source_port; /* ICMP: the identifier */
	uint16_t destination_port;
	uint16_t id;	   /* of the first segment; ICMP: the sequence number */
	uint16_t segments; /* packets that it stands for */
	uint8_t protocol;
	uint8_t ecn;	   /* the ECN field of the IP header */
	uint32_t len;	   /* bytes of the frame, Ethernet header included */
	uint32_t headers;  /* bytes in front of the payload */
	uint32_t sequence; /* TCP: of the first byte */
	uint32_t gso_size; /* bytes of payload in a segment; 0: not a GSO packet */
};

/* How long the packets of one class were in there. */
struct class_figures {
	uint64_t delay_sum_ns;
	uint64_t delay_max_ns;
	uint32_t delay[DELAY_BUCKETS];
};

enum delay_class { CLASS_C, CLASS_L, CLASSES };

/* What was seen of one stream in one phase. A packet belongs to the phase in which it
 * arrived, its bytes to the one in which they left. Numbers are packets as on the wire, that
 * is: segments.
 */
struct phase_figures {
	uint64_t arrived[ECN_CODEPOINTS]; /* by the ECN field on arrival */
	uint64_t left[ECN_CODEPOINTS];	  /* by the same */
	uint64_t marked[ECN_CODEPOINTS];  /* CE was set in between */
	uint64_t payload_bytes;		  /* that left */
	uint64_t frame_bytes;		  /* that left */
	uint64_t reordered;		  /* left after a packet that had arrived later */
	uint32_t largest_before;	  /* bytes of a frame */
	uint32_t largest_after;
	struct class_figures class[CLASSES]; /* by the queue that the ECN field asks for */
};

/* 100 ms of a stream, by the time of leaving. */
struct bin {
	uint32_t packets;
	uint32_t bytes;
	uint32_t marked;
	uint64_t delay_sum_ns;
	uint64_t delay_max_ns;
};

struct stream {
	uint32_t source;
	uint32_t destination;
	uint8_t protocol;
	struct phase_figures phase[MATCH_PHASES];
	struct bin bin[MATCH_BINS];
};

struct phase {
	char name[32]; /* empty: nobody asks for these figures */
	uint64_t begin_ns;
};

struct matcher;

/* NULL: no memory. */
struct matcher *matcher_new(uint64_t start_ns);
void matcher_free(struct matcher *matcher);

/* A new phase begins. False: too many, or its name is too long. */
bool matcher_begin_phase(struct matcher *matcher, const char *name, uint64_t ns);

/* Each packet has to be told of in the order of time, its arrival before its departure. */
void matcher_arrival(struct matcher *matcher, const struct packet *packet);
void matcher_departure(struct matcher *matcher, const struct packet *packet);

const struct stream *matcher_streams(const struct matcher *matcher, size_t *count);
const struct phase *matcher_phases(const struct matcher *matcher, size_t *count);
/* Packets that left without having been seen before, or not as they were. */
uint64_t matcher_unmatched(const struct matcher *matcher);

/* Read a frame. False: not IPv4 with TCP, UDP or an ICMP echo. */
bool packet_parse(const uint8_t *frame, size_t captured, struct packet *packet);

uint32_t delay_bucket(uint64_t ns);
/* Lower edge of a bucket; that of DELAY_BUCKETS is the upper edge of the last one. */
uint64_t delay_edge(uint32_t bucket);

#endif /* BENCH_MATCH_H */
