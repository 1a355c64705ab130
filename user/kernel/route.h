/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes of this network namespace. */
#ifndef ROUTE_H
#define ROUTE_H

/* Has an interface a default route, of IPv4 or IPv6, in any table: 1, 0, or -errno. */
int route_has_default(int ifindex);

#endif /* ROUTE_H */
