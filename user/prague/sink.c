// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/peer.h"
#include "kernel/running.h"
#include "prague/commands.h"
#include "prague/tcp_info.h"
#include "tcp_prague.h"

#define IDLE_S 10    /* a peer that sends nothing for so long is gone */
#define LOOK_MS 1000 /* how often we look for such peers */
#define BACKLOG 16
#define PEERS_MAX 256 /* served at a time */

struct peer {
	int fd;
	char address[INET6_ADDRSTRLEN];
	size_t bytes;
	time_t heard_s; /* when it last sent something, CLOCK_MONOTONIC */
};

/* In the order in which they came. */
struct peers {
	struct peer at[PEERS_MAX];
	int count;
};

static int listen_at(const char *port)
{
	const struct addrinfo hints = { .ai_family = AF_INET6,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	const int yes = 1, no = 0;
	struct addrinfo *address;
	int fd;

	if (!is_port(port) || getaddrinfo(NULL, port, &hints, &address)) {
		fail_usage("%s: not a port (for example " SINK_PORT "; 1 to 65535)", port);
		return -1;
	}
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The handshake's AccECN is the listener's choice. */
	if (fd >= 0)
		socket_ask_for(fd, PRAGUE_NAME);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) ||
	    bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, BACKLOG)) {
		fail(errno, "cannot listen on port %s: %s", port, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(address);
	return fd;
}

static void print_received(const struct peer *peer, const struct ecn_info *info)
{
	if (!info->has_counters)
		printf("%s: %zu bytes; this kernel does not count ECN (6.18 or later)\n",
		       peer->address, peer->bytes);
	else
		printf("%s: %zu bytes; as ECT(1) %u, ECT(0) %u, CE %u\n", peer->address,
		       peer->bytes, info->received_ect1, info->received_ect0, info->received_ce);
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Close its connection, and print what it sent, if anything: a check that finds no Prague on its
 * side sends nothing, and tries again with one of its own.
 */
static void drop_peer(struct peers *peers, int number)
{
	struct peer *peer = &peers->at[number];
	struct ecn_info info = {};

	if (peer->bytes) {
		ecn_info_read(peer->fd, &info);
		print_received(peer, &info);
	}
	close(peer->fd);
	peers->count--;
	memmove(peer, peer + 1, (size_t)(peers->count - number) * sizeof(*peer));
}

/* If all places are taken, the peer that came first is closed, so that nobody keeps others out by
 * sending slowly.
 */
static void add_peer(struct peers *peers, int fd, const struct sockaddr_in6 *from)
{
	struct peer *peer;

	if (send(fd, SINK_GREETING, strlen(SINK_GREETING), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		close(fd);
		return;
	}
	if (peers->count == PEERS_MAX)
		drop_peer(peers, 0);
	peer = &peers->at[peers->count++];
	*peer = (struct peer){ .fd = fd, .heard_s = now_s() };
	if (!inet_ntop(AF_INET6, &from->sin6_addr, peer->address, sizeof(peer->address)))
		snprintf(peer->address, sizeof(peer->address), "?");
}

/* Read what has arrived. False: no more will, and the peer has seen the last counters, so that its
 * socket can be closed.
 */
static bool receive(struct peer *peer)
{
	static char buffer[1 << 16];
	ssize_t got = recv(peer->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return now_s() - peer->heard_s < IDLE_S;
	if (got <= 0)
		return false;
	peer->bytes += (size_t)got;
	peer->heard_s = now_s();
	return true;
}

/* Accept one peer. False: that failed, which is reported. */
static bool accept_one(int listener, struct peers *peers)
{
	struct sockaddr_in6 from;
	socklen_t size = sizeof(from);
	int fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);

	if (fd >= 0)
		add_peer(peers, fd, &from);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE) && peers->count) {
		drop_peer(peers, 0); /* as where all places are taken */
		return true;
	}
	return fd >= 0 || errno == EINTR || errno == EAGAIN || errno == ECONNABORTED ||
	       fail(errno, "cannot accept connections: %s", strerror(errno));
}

static void wait_for_peers(int listener, const struct peers *peers)
{
	struct pollfd fds[PEERS_MAX + 1];

	for (int i = 0; i < peers->count; i++)
		fds[i] = (struct pollfd){ .fd = peers->at[i].fd, .events = POLLIN };
	fds[peers->count] = (struct pollfd){ .fd = listener, .events = POLLIN };
	poll(fds, (nfds_t)peers->count + 1, peers->count ? LOOK_MS : -1);
}

/* Peers that have gone are reported by then. */
static void end(int number)
{
	(void)number;
	_exit(STATUS_OK);
}

bool prague_sink(const char *port)
{
	static struct peers peers;
	int listener = listen_at(port ? port : SINK_PORT);

	if (listener < 0)
		return false;
	signal(SIGINT, end);
	signal(SIGTERM, end);
	printf("listening at port %s\n", port ? port : SINK_PORT);
	while (say_flush() && accept_one(listener, &peers)) {
		wait_for_peers(listener, &peers);
		for (int i = peers.count - 1; i >= 0; i--)
			if (!receive(&peers.at[i]))
				drop_peer(&peers, i);
	}
	return false;
}
