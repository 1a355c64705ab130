// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes and peers: what is shown of a prefix reads back as the same, and a host is a part of its
 * peer.
 */
#include "fuzz.h"

#include "cli/peer.h"
#include "cli/prefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), shown[PREFIX_TEXT_MAX], host[PEER_HOST_MAX];
	struct ip_prefix prefix, again;
	const char *port;

	if (prefix_read(text, &prefix)) {
		ALWAYS(prefix.bits <= PREFIX_BITS);
		ALWAYS(prefix_read(prefix_format(&prefix, shown), &again));
		ALWAYS(!memcmp(&prefix, &again, sizeof(prefix)));
	}
	if (peer_split(text, host, &port)) {
		ALWAYS(*host && strstr(text, host));
		ALWAYS(!port || is_port(port));
	}
	free(text);
	return 0;
}
