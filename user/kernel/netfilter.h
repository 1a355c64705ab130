/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nftables, as far as it stands at the hooks of devices. */
#ifndef NETFILTER_H
#define NETFILTER_H

#define NETFILTER_CHAIN_MAX 96

/* Is there a chain that looks at what arrives at this interface: of the family netdev, or an
 * ingress chain of inet? 1: `chain` names it ("fw ingress": table and chain); 0; -errno: unknown,
 * -EPERM without CAP_NET_ADMIN. Reports nothing.
 */
int netfilter_ingress(const char *ifname, char chain[NETFILTER_CHAIN_MAX]);

#endif /* NETFILTER_H */
