/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A prefix of addresses, as the key of a longest-prefix map (BPF_MAP_TYPE_LPM_TRIE). */
#ifndef DUALPI2_IP_PREFIX_H
#define DUALPI2_IP_PREFIX_H

#define PREFIX_BITS 128	  /* of an address alone */
#define PREFIX_V4_BITS 96 /* before an IPv4 address, which is v4-mapped (RFC 4291, 2.5.5.2) */

struct ip_prefix {
	__u32 bits;	  /* of the address: 0 to 128 */
	__u8 address[16]; /* IPv6, in network byte order; IPv4 as ::ffff:a.b.c.d */
};

/* The lower half of an IPv4 address, which is in network byte order, as of an IPv6 address in
 * memory. The upper one is 0.
 */
static inline __u64 prefix_low_of_v4(__u32 address)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (__u64)address << 32 | 0xffff0000;
#else
	return 0x0000ffffULL << 32 | address;
#endif
}

#endif /* DUALPI2_IP_PREFIX_H */
