/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which DualQ a host has, in a qdisc with one for each (home).
 *
 * A host is an IPv4 address or an IPv6 prefix, and here it is a number of 32 bits made from it. Its
 * upper bits choose a set of HOSTS_WAYS DualQs, and in it the host has
 *
 *	its own		the one that it had before, if nobody has taken it since
 *	a new one	of those in which nothing waits, the one to which no packet has come for
 *			longest, whoever had it
 *	a foreign one	if packets wait in all of them: the two hosts share it. Nothing is lost
 *			but that each has a share, so the caller counts it
 *
 * How often they share hangs on how many hosts have packets at the same time, not on how many there
 * are: one of 1100 does if a third of the DualQs is busy, and one of 19 if three quarters are (with
 * a Poisson distribution).
 *
 * A host that shares may get one of its own while packets of it wait in the foreign one, which they
 * then leave later than those that follow them: once for each time that its set was full.
 *
 * Sets are in an array that outlives qdiscs, and nobody clears them: each has the time at which its
 * qdisc started (or last threw away all that waited), and what another one has left is nobody's.
 *
 * Who writes what: all of it under the qdisc's lock. Who only wants to know (hosts_find(), in the
 * tcx program) reads without: it may miss a host that gets its DualQ at this moment, or take one
 * for its own that it has just lost. It then forecasts another queue's delay, for one packet.
 */
#ifndef DUALPI2_HOSTS_H
#define DUALPI2_HOSTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* DualQs that a host may have. With 4, thirteen times as many share if a third is busy. */
#define HOSTS_WAYS 8

/* Of no host: no IP header was found. And the DualQ of such packets. */
#define HOSTS_NONE 0
#define HOSTS_HOME 0

/* What makes a host of an address. */
struct hosts_law {
	__u64 key;	      /* random, so that nobody outside can choose who shares a set */
	__u64 mask, mask_low; /* of the two halves of an IPv6 address, in network byte order */
};

/* The DualQs of some hosts: a cache line and a quarter. What is read without the lock comes first.
 */
struct hosts_set {
	__u64 start_ns;		/* when the qdisc started that it is of: hosts_own() */
	__u32 host[HOSTS_WAYS]; /* whose it is; HOSTS_NONE: nobody's yet */
	__u32 last[HOSTS_WAYS]; /* what `packets` was with the last that came to it */
	__u32 packets;		/* that came to any of them; wraps */
	__u32 reserved;		/* 0 */
};

/* What a host has got that had none. */
enum hosts_claim {
	HOSTS_NEW,     /* it begins anew: what the DualQ knows is of another host */
	HOSTS_FOREIGN, /* it shares that of another one */
};

/* ---- hosts ----------------------------------------------------------------------- */

/* The first `bits` (0 to 64) of half an address as it is in memory. */
static inline __u64 hosts_mask(__u32 bits)
{
	const __u64 mask = bits ? ~0ULL << (64 - bits) : 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(mask);
#else
	return mask;
#endif
}

/* `prefix`: the first bits of an IPv6 address that are the same for all addresses of a host, 1 to
 * 128.
 */
static inline struct hosts_law hosts_make(__u64 key, __u32 prefix)
{
	return (struct hosts_law){
		.key = key,
		.mask = hosts_mask(prefix < 64 ? prefix : 64),
		.mask_low = hosts_mask(prefix > 64 ? prefix - 64 : 0),
	};
}

/* A hash that takes in one more word; its upper half is good. A product carries upwards only, and
 * the bytes that differ most between hosts, the last ones of an address, are the upper ones where
 * the CPU is little-endian. So the word is folded first. (The constant is MurmurHash3's.)
 */
static inline __u64 hosts_mix(__u64 hash, __u64 word)
{
	hash ^= word;
	hash ^= hash >> 32;
	return hash * 0xff51afd7ed558ccdULL;
}

/* Of two words, so that each goes through two products, but for the last bits of an IPv6 address
 * behind a /64. With one key of 86, two of ten thousand hosts have the same number, and share.
 */
static inline __u32 hosts_number(const struct hosts_law *law, __u64 first, __u64 second)
{
	const __u32 number = hosts_mix(hosts_mix(law->key, first), second) >> 32;

	return number != HOSTS_NONE ? number : 1;
}

/* `address`: in network byte order. No prefix of IPv6 up to a /127 has this second word. */
static inline __u32 hosts_of_v4(const struct hosts_law *law, __u32 address)
{
	return hosts_number(law, address, ~0ULL);
}

/* `high`, `low`: the two halves, in network byte order. */
static inline __u32 hosts_of_v6(const struct hosts_law *law, __u64 high, __u64 low)
{
	return hosts_number(law, high & law->mask, low & law->mask_low);
}

/* ---- homes ----------------------------------------------------------------------- */

/* Which of so many sets, by the upper bits of a host. */
static inline __u32 hosts_set_of(__u32 host, __u32 sets)
{
	return (__u64)host * sets >> 32;
}

/* The DualQ behind a way of a set. HOSTS_HOME is none of them. */
static inline __u32 hosts_home(__u32 set, __u32 way)
{
	return HOSTS_HOME + 1 + set * HOSTS_WAYS + way;
}

/* ---- a set ----------------------------------------------------------------------- */

/* The way of a host that has one; HOSTS_WAYS: it has none. `start_ns`: of the qdisc. */
static inline __u32 hosts_find(const struct hosts_set *set, __u64 start_ns, __u32 host)
{
	__u32 way;

	if (set->start_ns != start_ns)
		return HOSTS_WAYS;
	for (way = 0; way < HOSTS_WAYS; way++)
		if (set->host[way] == host)
			break;
	return way;
}

/* A packet of a host has come: the way that it has had before; HOSTS_WAYS: none, so that it has to
 * claim one.
 */
static inline __u32 hosts_own(struct hosts_set *set, __u64 start_ns, __u32 host)
{
	if (set->start_ns != start_ns)
		*set = (struct hosts_set){ .start_ns = start_ns };
	return hosts_find(set, start_ns, host);
}

/* Of the ways in which nothing waits, the one to which none has come for longest; HOSTS_WAYS:
 * packets wait in all of them. `busy`: bit by way.
 */
static inline __u32 hosts_longest_idle(const struct hosts_set *set, __u32 busy)
{
	__u32 found = HOSTS_WAYS, longest = 0, way, idle;

	for (way = 0; way < HOSTS_WAYS; way++) {
		idle = set->packets - set->last[way];
		if (busy & 1 << way || (found < HOSTS_WAYS && idle <= longest))
			continue;
		found = way;
		longest = idle;
	}
	return found;
}

/* `busy` if packets wait in all of them */
#define HOSTS_ALL_BUSY ((1U << HOSTS_WAYS) - 1)

/* The way that a host which has none shares if all are busy. It meets the same other one each time,
 * as its number chooses it.
 */
static inline __u32 hosts_foreign(__u32 host)
{
	return host % HOSTS_WAYS;
}

/* A way for a host that has none. */
static inline enum hosts_claim hosts_claim(struct hosts_set *set, __u32 host, __u32 busy,
					   __u32 *way)
{
	*way = hosts_longest_idle(set, busy);
	if (*way < HOSTS_WAYS) {
		set->host[*way] = host;
		return HOSTS_NEW;
	}
	*way = hosts_foreign(host);
	return HOSTS_FOREIGN;
}

/* Then, in any case. */
static inline void hosts_note(struct hosts_set *set, __u32 way)
{
	set->last[way] = ++set->packets;
}

#endif /* DUALPI2_HOSTS_H */
