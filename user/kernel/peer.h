/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TCP connections to a peer. */
#ifndef KERNEL_PEER_H
#define KERNEL_PEER_H

#include <netdb.h>

/* Look up a peer (cli/peer.h), whose port is `port` if it has none: for freeaddrinfo(). NULL: `why`
 * not.
 */
struct addrinfo *peer_addresses(const char *peer, const char *port, const char **why);

/* Connect, send and receive wait for five seconds at most. With this congestion control, if the
 * kernel has it (NULL: the default). The socket, or -1 with errno.
 */
int peer_connect(const struct addrinfo *address, const char *congestion);

#endif /* KERNEL_PEER_H */
