/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A peer as people write it: "HOST", "HOST:PORT", "[2001:db8::1]:PORT". */
#ifndef CLI_PEER_H
#define CLI_PEER_H

#include <stdbool.h>

#define PEER_HOST_MAX 256

/* `port`: that which is there, or else NULL. False: it is no peer. */
bool peer_split(const char *peer, char host[PEER_HOST_MAX], const char **port);

/* Is it a number of a port: 1 to 65535? */
bool is_port(const char *text);

#endif /* CLI_PEER_H */
