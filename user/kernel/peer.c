// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/peer.h"
#include "kernel/running.h"

#define WAIT_S 5

struct addrinfo *peer_addresses(const char *peer, const char *port, const char **why)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *addresses;
	char host[PEER_HOST_MAX];
	const char *own_port;
	int error = EAI_NONAME;

	if (peer_split(peer, host, &own_port))
		error = getaddrinfo(host, own_port ?: port, &hints, &addresses);
	*why = gai_strerror(error);
	return error ? NULL : addresses;
}

int peer_connect(const struct addrinfo *address, const char *congestion)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	int error, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (congestion)
		socket_ask_for(fd, congestion);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (!connect(fd, address->ai_addr, address->ai_addrlen))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}
