// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/peer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && port >= 1 && port <= UINT16_MAX;
}

bool peer_split(const char *peer, char host[PEER_HOST_MAX], const char **port)
{
	const char *end, *behind;

	if (*peer == '[') {
		end = strchrnul(++peer, ']');
		behind = *end ? end + 1 : "?";
	} else {
		end = behind = peer + strcspn(peer, ":");
		if (*behind && strchr(behind + 1, ':')) /* an IPv6 address alone */
			end = behind = peer + strlen(peer);
	}
	*port = *behind == ':' ? behind + 1 : NULL;
	if (end == peer || end - peer >= PEER_HOST_MAX || (*port ? !is_port(*port) : *behind))
		return false;
	snprintf(host, PEER_HOST_MAX, "%.*s", (int)(end - peer), peer);
	return true;
}
