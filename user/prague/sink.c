// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/peer.h"
#include "kernel/running.h"
#include "prague/commands.h"
#include "prague/tcp_info.h"
#include "tcp_prague.h"

#define IDLE_S 10 /* a peer that sends nothing for so long is gone */
#define BACKLOG 16
#define PEERS_MAX 32 /* that are served at a time */
#define ADDRESS_MAX (INET6_ADDRSTRLEN)

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
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The handshake's AccECN is the listener's choice. */
	if (fd >= 0)
		socket_ask_for(fd, PRAGUE_NAME);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) ||
	    bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, BACKLOG)) {
		fail(errno, "port %s: cannot be listened at: %s", port, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(address);
	return fd;
}

static void print_received(const char *peer, size_t bytes, const struct ecn_info *info)
{
	if (!info->has_counters)
		printf("%s: %zu bytes; this kernel does not count ECN (6.18 or later)\n", peer,
		       bytes);
	else
		printf("%s: %zu bytes; as ECT(1) %u, ECT(0) %u, CE %u\n", peer, bytes,
		       info->received_ect1, info->received_ect0, info->received_ce);
	say_flush();
}

/* Greet, take what comes, and close when the peer has seen the last counters. */
static void receive(int fd, const char *peer)
{
	const struct timeval idle = { .tv_sec = IDLE_S };
	struct ecn_info info = {};
	static char buffer[1 << 16];
	size_t bytes = 0;
	ssize_t got;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle));
	if (send(fd, SINK_GREETING, strlen(SINK_GREETING), MSG_NOSIGNAL) < 0)
		return;
	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		bytes += (size_t)got;
	/* A check that finds no Prague on its side tries again with one of its own. */
	if (!bytes)
		return;
	ecn_info_read(fd, &info);
	print_received(peer, bytes, &info);
}

/* What was received has been told by then. */
static void end(int number)
{
	(void)number;
	_exit(STATUS_OK);
}

/* One that has just connected, in a process of its own, so that the next need not wait for it.
 * False: there was none to be had, and it has been served.
 */
static bool receive_beside(int fd, const struct sockaddr_in6 *from)
{
	char peer[ADDRESS_MAX];
	pid_t child = fork();

	if (child > 0)
		return true;
	receive(fd, inet_ntop(AF_INET6, &from->sin6_addr, peer, sizeof(peer)) ?: "?");
	if (!child)
		_exit(STATUS_OK);
	return false;
}

/* Leave no more of them at work than there may be. */
static void wait_for_room(int *at_work)
{
	while (*at_work && waitpid(-1, NULL, *at_work < PEERS_MAX ? WNOHANG : 0) > 0)
		--*at_work;
}

bool prague_sink(const char *port)
{
	int listener = listen_at(port ? port : SINK_PORT), at_work = 0, fd;
	struct sockaddr_in6 from;

	if (listener < 0)
		return false;
	signal(SIGINT, end);
	signal(SIGTERM, end);
	printf("listening at port %s\n", port ? port : SINK_PORT);
	while (say_flush()) {
		socklen_t size = sizeof(from);

		fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return fail(errno, "connections cannot be accepted: %s", strerror(errno));
		if (fd < 0)
			continue;
		wait_for_room(&at_work);
		at_work += receive_beside(fd, &from);
		close(fd);
	}
	return false;
}
