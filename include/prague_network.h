/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network of a destination, for which it is remembered that a Classic AQM is on the way: /24 of
 * IPv4, /48 of IPv6. Where an IPv6 address stands for one of IPv4, the latter's: all of IPv4 is in
 * one network of a translator. For BPF and user space.
 */
#ifndef DUALPI2_PRAGUE_NETWORK_H
#define DUALPI2_PRAGUE_NETWORK_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* A network of destinations, in network byte order: /24, or (with `v6`) /48. */
struct prague_destination {
	__u32 prefix[2];
	__u32 v6;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PRAGUE_NET32(value) __builtin_bswap32(value)
#else
#define PRAGUE_NET32(value) (value)
#endif

static inline void prague_network_v4(__u32 address, struct prague_destination *to)
{
	*to = (struct prague_destination){ { address & PRAGUE_NET32(0xffffff00U), 0 }, 0 };
}

/* Is it made of an IPv4 address in its last 32 bits: v4-mapped (RFC 4291, 2.5.5.2), of NAT64 with
 * its well-known prefix 64:ff9b::/96 (RFC 6052, 2.1), or with one of 96 bits in 64:ff9b:1::/48 (RFC
 * 8215)? An address of 6to4 has it in its /48 anyway.
 */
static inline bool prague_is_v4(const __u32 address[4])
{
	if (!address[0])
		return !address[1] && address[2] == PRAGUE_NET32(0xffffU);
	if (address[0] != PRAGUE_NET32(0x0064ff9bU) || !address[3])
		return false;
	return (!address[1] && !address[2]) ||
	       (address[1] & PRAGUE_NET32(0xffff0000U)) == PRAGUE_NET32(0x00010000U);
}

/* `address`: of IPv6, in network byte order. */
static inline void prague_network_v6(const __u32 address[4], struct prague_destination *to)
{
	if (prague_is_v4(address))
		prague_network_v4(address[3], to);
	else
		*to = (struct prague_destination){
			{ address[0], address[1] & PRAGUE_NET32(0xffff0000U) }, 1
		};
}

#endif /* DUALPI2_PRAGUE_NETWORK_H */
