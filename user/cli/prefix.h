/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prefixes of addresses as people write them. */
#ifndef CLI_PREFIX_H
#define CLI_PREFIX_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <stdbool.h>

#include "ip_prefix.h"

#define PREFIX_TEXT_MAX (INET6_ADDRSTRLEN + 4) /* with "/128" */

/* "10.0.0.0/8", "2001:db8::/32", or an address alone. Bits behind its length are cleared. False: it
 * is none.
 */
bool prefix_read(const char *text, struct ip_prefix *prefix);

/* The same in two steps, for those who want to know whether there are such bits. */
bool prefix_read_whole(const char *text, struct ip_prefix *prefix);
void prefix_cut(struct ip_prefix *prefix);

/* The same prefix as text, which is returned; IPv4 without the mapping. */
const char *prefix_format(const struct ip_prefix *prefix, char text[PREFIX_TEXT_MAX]);

#endif /* CLI_PREFIX_H */
