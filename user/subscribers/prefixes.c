// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/prefixes.h"

#include <string.h>

#include "cli/message.h"

#define BLANKS " \t"

/* IPv4 addresses are in a part of IPv6 here (ip_prefix.h): are they in this prefix? */
static bool holds_all_v4(const struct ip_prefix *prefix)
{
	struct ip_prefix all_v4 = { .bits = prefix->bits, .address = { [10] = 0xff, [11] = 0xff } };

	prefix_cut(&all_v4);
	return prefix->bits < PREFIX_V4_BITS && !memcmp(&all_v4, prefix, sizeof(all_v4));
}

static bool read_prefix(const char *text, struct ip_prefix *prefix)
{
	char shown[PREFIX_TEXT_MAX];
	struct ip_prefix whole;

	if (!strcmp(text, SUBSCRIBER_OTHERS)) {
		*prefix = (struct ip_prefix){};
		return true;
	}
	if (!prefix_read_whole(text, &whole))
		return fail(0, "%s: not a prefix (for example 192.0.2.7 or 2001:db8:1::/48)",
			    *text ? text : "''");
	*prefix = whole;
	prefix_cut(prefix);
	if (memcmp(prefix, &whole, sizeof(whole)))
		return fail(0, "%s: more than the prefix: write %s, or the address alone", text,
			    prefix_format(prefix, shown));
	if (holds_all_v4(prefix))
		return fail(0,
			    "%s: too short for IPv6: write 2000::/3 for all of it, or %s for "
			    "all addresses that nobody else has",
			    text, SUBSCRIBER_OTHERS);
	return true;
}

static char *without_blanks(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(BLANKS, end[-1]))
		*--end = '\0';
	return text + strspn(text, BLANKS);
}

bool subscribers_take_prefixes(struct subscribers *list, struct subscriber *owner, char *text)
{
	struct ip_prefix prefix;
	char *next;

	while ((next = strsep(&text, ","))) {
		if (!read_prefix(without_blanks(next), &prefix) ||
		    !subscribers_add_prefix(list, owner, &prefix))
			return false;
	}
	return true;
}
