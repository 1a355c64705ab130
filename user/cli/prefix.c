// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/prefix.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V4_PLACE 12 /* of the IPv4 address among the bytes */

/* Bytes before V4_PLACE of a v4-mapped address. */
static const __u8 v4_mapped[V4_PLACE] = { [10] = 0xff, [11] = 0xff };

static bool read_bits(const char *text, unsigned long most, unsigned long *bits)
{
	char *end;

	*bits = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *bits <= most;
}

bool prefix_read_whole(const char *text, struct ip_prefix *prefix)
{
	unsigned long before = 0, bits;
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchrnul(text, '/');

	if (slash - text >= (ptrdiff_t)sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	*prefix = (struct ip_prefix){};
	if (inet_pton(AF_INET, address, prefix->address + V4_PLACE) == 1) {
		memcpy(prefix->address, v4_mapped, sizeof(v4_mapped));
		before = PREFIX_V4_BITS;
	} else if (inet_pton(AF_INET6, address, prefix->address) != 1) {
		return false;
	}
	bits = PREFIX_BITS - before;
	if (*slash && !read_bits(slash + 1, bits, &bits))
		return false;
	prefix->bits = before + bits;
	return true;
}

void prefix_cut(struct ip_prefix *prefix)
{
	__u32 byte = prefix->bits / 8;

	if (prefix->bits % 8)
		prefix->address[byte++] &= ~(0xff >> prefix->bits % 8);
	memset(prefix->address + byte, 0, sizeof(prefix->address) - byte);
}

bool prefix_read(const char *text, struct ip_prefix *prefix)
{
	if (!prefix_read_whole(text, prefix))
		return false;
	prefix_cut(prefix);
	return true;
}

const char *prefix_format(const struct ip_prefix *prefix, char text[PREFIX_TEXT_MAX])
{
	const bool is_v4 = prefix->bits >= PREFIX_V4_BITS &&
			   !memcmp(prefix->address, v4_mapped, sizeof(v4_mapped));
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(is_v4 ? AF_INET : AF_INET6, prefix->address + (is_v4 ? V4_PLACE : 0), address,
		  sizeof(address));
	snprintf(text, PREFIX_TEXT_MAX, "%s/%u", address,
		 prefix->bits - (is_v4 ? PREFIX_V4_BITS : 0));
	return text;
}
