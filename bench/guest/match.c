// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "match.h"

#include <arpa/inet.h>
#include <netinet/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packets under way: a table with rows of a few places each. One that was dropped stays
 * until its place is needed. Should a packet have to make way that is still to leave, that
 * is seen then: it counts as unmatched.
 */
#define WAITING_ROWS (1U << 15)
#define WAITING_PLACES 16

struct waiting {
	uint64_t key; /* 0: free */
	uint64_t ns;
	uint64_t serial; /* of its connection */
	uint32_t sequence;
	uint8_t ecn;
	uint8_t phase;
};

#define CONNECTIONS (1U << 14)

struct connection {
	uint64_t key;	      /* 0: free */
	uint64_t arrived;     /* packets */
	uint64_t latest_left; /* highest serial that has left */
	struct stream *stream;
};

struct matcher {
	uint64_t start_ns;
	uint64_t unmatched;
	size_t streams;
	size_t phases;
	struct phase phase[MATCH_PHASES];
	struct connection connection[CONNECTIONS];
	struct waiting waiting[WAITING_ROWS][WAITING_PLACES];
	struct stream stream[MATCH_STREAMS];
};

struct matcher *matcher_new(uint64_t start_ns)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		return NULL;
	matcher->start_ns = start_ns;
	matcher_begin_phase(matcher, "", 0);
	return matcher;
}

void matcher_free(struct matcher *matcher)
{
	free(matcher);
}

bool matcher_begin_phase(struct matcher *matcher, const char *name, uint64_t ns)
{
	struct phase *phase;

	if (matcher->phases == MATCH_PHASES || strlen(name) >= sizeof(phase->name))
		return false;
	phase = &matcher->phase[matcher->phases++];
	phase->begin_ns = ns;
	snprintf(phase->name, sizeof(phase->name), "%s", name);
	return true;
}

static uint8_t phase_at(const struct matcher *matcher, uint64_t ns)
{
	size_t phase = matcher->phases - 1;

	while (phase && ns < matcher->phase[phase].begin_ns)
		phase--;
	return (uint8_t)phase;
}

/* Every bit of the result depends on every bit of `value` (the end of splitmix64). */
static uint64_t mixed(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

/* Never 0. */
static uint64_t connection_key(const struct packet *packet)
{
	uint64_t addresses = (uint64_t)packet->source << 32 | packet->destination;
	uint64_t ports = (uint64_t)packet->source_port << 16 | packet->destination_port;

	return mixed(mixed(addresses) ^ (ports << 8 | packet->protocol)) | 1;
}

static uint64_t packet_key(uint64_t connection_key, uint16_t id)
{
	return mixed(connection_key ^ (uint64_t)id << 48) | 1;
}

static struct stream *stream_of(struct matcher *matcher, const struct packet *packet)
{
	struct stream *stream;

	for (size_t i = 0; i < matcher->streams; i++) {
		stream = &matcher->stream[i];
		if (stream->source == packet->source &&
		    stream->destination == packet->destination &&
		    stream->protocol == packet->protocol)
			return stream;
	}
	if (matcher->streams == MATCH_STREAMS)
		return NULL;
	stream = &matcher->stream[matcher->streams++];
	stream->source = packet->source;
	stream->destination = packet->destination;
	stream->protocol = packet->protocol;
	return stream;
}

/* The connection of a packet. NULL: it is new and not to be made, or there is no room. */
static struct connection *connection_of(struct matcher *matcher, const struct packet *packet,
					bool make)
{
	uint64_t key = connection_key(packet);
	struct connection *connection;

	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		connection = &matcher->connection[(key + i * 2) / 2 % CONNECTIONS];
		if (connection->key == key)
			return connection;
		if (connection->key)
			continue;
		if (!make)
			return NULL;
		connection->stream = stream_of(matcher, packet);
		if (!connection->stream)
			return NULL;
		connection->key = key;
		return connection;
	}
	return NULL;
}

static struct waiting *row_of(struct matcher *matcher, uint64_t key)
{
	return matcher->waiting[key >> 1 & (WAITING_ROWS - 1)];
}

static struct waiting *find_waiting(struct matcher *matcher, uint64_t key)
{
	struct waiting *row = row_of(matcher, key);

	for (int i = 0; i < WAITING_PLACES; i++) {
		if (row[i].key == key)
			return &row[i];
	}
	return NULL;
}

/* A place for a packet that arrives: that of one with the same key, which was dropped; a
 * free one; or that of the oldest.
 */
static struct waiting *place_for(struct matcher *matcher, uint64_t key)
{
	struct waiting *row = row_of(matcher, key), *oldest = row;
	struct waiting *same = find_waiting(matcher, key);

	if (same)
		return same;
	for (int i = 0; i < WAITING_PLACES; i++) {
		if (!row[i].key)
			return &row[i];
		if (row[i].ns < oldest->ns)
			oldest = &row[i];
	}
	return oldest;
}

static uint32_t payload_of(const struct packet *packet)
{
	return packet->len > packet->headers ? packet->len - packet->headers : 0;
}

/* TCP without a connection (a SYN-ACK, a RST, an ACK from TIME-WAIT) has the identification 0,
 * and two such packets may be under way at once. With it goes one of 65536 others.
 */
static bool is_nameless(const struct packet *packet, uint32_t segment)
{
	return packet->protocol == IPPROTO_TCP && !(uint16_t)(packet->id + segment);
}

void matcher_arrival(struct matcher *matcher, const struct packet *packet)
{
	struct connection *connection = connection_of(matcher, packet, true);
	uint8_t phase = phase_at(matcher, packet->ns);
	struct phase_figures *figures;

	if (!connection)
		return; /* no room: its departure will count as unmatched */
	figures = &connection->stream->phase[phase];
	if (packet->len > figures->largest_before)
		figures->largest_before = packet->len;
	for (uint32_t i = 0; i < packet->segments; i++) {
		uint64_t key = packet_key(connection->key, (uint16_t)(packet->id + i));

		if (is_nameless(packet, i))
			continue;
		figures->arrived[packet->ecn]++;
		*place_for(matcher, key) = (struct waiting){
			.key = key,
			.ns = packet->ns,
			.serial = ++connection->arrived,
			.sequence = packet->sequence + i * packet->gso_size,
			.ecn = packet->ecn,
			.phase = phase,
		};
	}
}

static void count_delay(struct class_figures *figures, uint64_t delay_ns)
{
	figures->delay[delay_bucket(delay_ns)]++;
	figures->delay_sum_ns += delay_ns;
	if (delay_ns > figures->delay_max_ns)
		figures->delay_max_ns = delay_ns;
}

/* One packet of the wire has left. */
static void count_departure(struct connection *connection, const struct waiting *waiting,
			    const struct packet *packet, struct bin *bin)
{
	struct phase_figures *figures = &connection->stream->phase[waiting->phase];
	enum delay_class class = waiting->ecn & 1 ? CLASS_L : CLASS_C; /* ECT(1) and CE */
	uint64_t delay_ns = packet->ns - waiting->ns;
	bool marked = packet->ecn != waiting->ecn;

	figures->left[waiting->ecn]++;
	figures->marked[waiting->ecn] += marked;
	count_delay(&figures->class[class], delay_ns);
	if (waiting->serial < connection->latest_left)
		figures->reordered++;
	else
		connection->latest_left = waiting->serial;

	bin->packets++;
	bin->marked += marked;
	bin->delay_sum_ns += delay_ns;
	if (delay_ns > bin->delay_max_ns)
		bin->delay_max_ns = delay_ns;
}

void matcher_departure(struct matcher *matcher, const struct packet *packet)
{
	struct connection *connection = connection_of(matcher, packet, false);
	uint64_t age_bins = (packet->ns - matcher->start_ns) / MATCH_BIN_NS;
	struct phase_figures *figures;
	struct waiting *waiting;
	struct bin *bin;

	if (!connection) {
		matcher->unmatched += packet->segments;
		return;
	}
	figures = &connection->stream->phase[phase_at(matcher, packet->ns)];
	figures->payload_bytes += payload_of(packet);
	figures->frame_bytes += packet->len;
	if (packet->len > figures->largest_after)
		figures->largest_after = packet->len;
	bin = &connection->stream->bin[age_bins < MATCH_BINS ? age_bins : MATCH_BINS - 1];
	bin->bytes += packet->len;
	for (uint32_t i = 0; i < packet->segments; i++) {
		if (is_nameless(packet, i))
			continue;
		waiting = find_waiting(matcher,
				       packet_key(connection->key, (uint16_t)(packet->id + i)));
		if (!waiting || waiting->sequence != packet->sequence + i * packet->gso_size) {
			matcher->unmatched++;
			continue;
		}
		count_departure(connection, waiting, packet, bin);
		waiting->key = 0;
	}
}

const struct stream *matcher_streams(const struct matcher *matcher, size_t *count)
{
	*count = matcher->streams;
	return matcher->stream;
}

const struct phase *matcher_phases(const struct matcher *matcher, size_t *count)
{
	*count = matcher->phases;
	return matcher->phase;
}

uint64_t matcher_unmatched(const struct matcher *matcher)
{
	return matcher->unmatched;
}

/* `packet` has len, ns and gso_size already. */
bool packet_parse(const uint8_t *frame, size_t captured, struct packet *packet)
{
	const uint8_t *transport;
	struct icmphdr icmp;
	struct iphdr ip;
	struct tcphdr tcp;
	struct udphdr udp;
	uint32_t payload;
	size_t left;

	if (captured < ETH_HLEN + sizeof(ip))
		return false;
	memcpy(&ip, frame + ETH_HLEN, sizeof(ip));
	packet->headers = ETH_HLEN + ip.ihl * 4U;
	if (ip.version != 4 || captured < packet->headers)
		return false;
	packet->source = ntohl(ip.saddr);
	packet->destination = ntohl(ip.daddr);
	packet->protocol = ip.protocol;
	packet->ecn = ip.tos & 3;
	packet->id = ntohs(ip.id);
	packet->sequence = 0;
	transport = frame + packet->headers;
	left = captured - packet->headers;
	if (ip.protocol == IPPROTO_TCP && left >= sizeof(tcp)) {
		memcpy(&tcp, transport, sizeof(tcp));
		packet->source_port = ntohs(tcp.source);
		packet->destination_port = ntohs(tcp.dest);
		packet->sequence = ntohl(tcp.seq);
		packet->headers += tcp.doff * 4U;
	} else if (ip.protocol == IPPROTO_UDP && left >= sizeof(udp)) {
		memcpy(&udp, transport, sizeof(udp));
		packet->source_port = ntohs(udp.source);
		packet->destination_port = ntohs(udp.dest);
		packet->headers += sizeof(udp);
	} else if (ip.protocol == IPPROTO_ICMP && left >= sizeof(icmp)) {
		memcpy(&icmp, transport, sizeof(icmp));
		if (icmp.type != ICMP_ECHO && icmp.type != ICMP_ECHOREPLY)
			return false;
		packet->source_port = ntohs(icmp.un.echo.id);
		packet->destination_port = 0;
		packet->id = ntohs(icmp.un.echo.sequence);
		packet->headers += sizeof(icmp);
	} else {
		return false;
	}
	payload = payload_of(packet);
	packet->segments = 1;
	if (packet->gso_size && payload)
		packet->segments = (uint16_t)((payload + packet->gso_size - 1) / packet->gso_size);
	return true;
}

uint32_t delay_bucket(uint64_t ns)
{
	uint32_t octave;

	if (ns >= 1ULL << DELAY_BITS)
		return DELAY_BUCKETS - 1;
	if (ns < DELAY_SUBS)
		return (uint32_t)ns;
	octave = 63U - (uint32_t)__builtin_clzll(ns) - DELAY_SUB_SHIFT;
	return (octave << DELAY_SUB_SHIFT) + (uint32_t)(ns >> octave);
}

uint64_t delay_edge(uint32_t bucket)
{
	uint32_t octave = bucket >> DELAY_SUB_SHIFT;
	uint64_t sub = bucket & (DELAY_SUBS - 1);

	if (!octave)
		return sub;
	return (sub + DELAY_SUBS) << (octave - 1);
}
