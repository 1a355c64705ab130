/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Log-linear histogram of delays: each power of two is cut into 8 equal buckets.
 *
 * A value is read back as the middle of its bucket: wrong by at most 1/16 (6.25 %)
 * from 1.024 us up, and by at most 64 ns below. Values above 8.5 s go to the last
 * bucket.
 */
#ifndef DUALPI2_HISTOGRAM_H
#define DUALPI2_HISTOGRAM_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "lg.h"

#define HISTOGRAM_UNIT_SHIFT 7 /* the smallest bucket is 128 ns wide */
#define HISTOGRAM_SUB_SHIFT 3  /* 8 buckets a power of two */
#define HISTOGRAM_SUBS (1U << HISTOGRAM_SUB_SHIFT)
#define HISTOGRAM_UNIT_BITS 26 /* 2^26 units of 128 ns: 8.59 s */
#define HISTOGRAM_BUCKETS ((HISTOGRAM_UNIT_BITS - HISTOGRAM_SUB_SHIFT + 1) * HISTOGRAM_SUBS)

struct dualpi2_histogram {
	__u64 sum_ns;			 /* of all recorded values */
	__u64 max_ns;			 /* highest recorded value */
	__u64 bucket[HISTOGRAM_BUCKETS]; /* values recorded */
};

/* In BPF a function of its own (bpf/verifier.bpf.h, GLOBAL_SUBPROG). */
#ifdef __VMLINUX_H__
#define HISTOGRAM_FUNCTION __attribute__((noinline))
#else
#define HISTOGRAM_FUNCTION static inline
#endif

/* The bucket of a value in nanoseconds: 0..HISTOGRAM_BUCKETS - 1. */
HISTOGRAM_FUNCTION __u32 histogram_index(__u64 ns)
{
	__u64 units = ns >> HISTOGRAM_UNIT_SHIFT;
	__u32 v, octave;

	if (units >= 1ULL << HISTOGRAM_UNIT_BITS)
		return HISTOGRAM_BUCKETS - 1;
	v = (__u32)units;
	if (v < HISTOGRAM_SUBS)
		return v;
	octave = lg_floor(v) - HISTOGRAM_SUB_SHIFT;
	return (octave << HISTOGRAM_SUB_SHIFT) + (v >> octave);
}

/* Lower edge of a bucket in nanoseconds; that of HISTOGRAM_BUCKETS is the upper
 * edge of the last one.
 */
static inline __u64 histogram_edge(__u32 index)
{
	__u32 octave = index >> HISTOGRAM_SUB_SHIFT;
	__u64 sub = index & (HISTOGRAM_SUBS - 1);

	if (!octave)
		return sub << HISTOGRAM_UNIT_SHIFT;
	return (sub + HISTOGRAM_SUBS) << (octave - 1 + HISTOGRAM_UNIT_SHIFT);
}

/* Add one value. The caller is the only writer. `*octave`: 0 at first; the octave of the value
 * is left there, and most likely it is that of the next one, too.
 */
static inline void histogram_record(struct dualpi2_histogram *h, __u64 ns, __u32 *octave)
{
	__u32 last = *octave & 31, index;
	__u64 sub = ns >> HISTOGRAM_UNIT_SHIFT >> last;

	if (sub < 2 * HISTOGRAM_SUBS && (!last || sub >= HISTOGRAM_SUBS)) {
		index = (last << HISTOGRAM_SUB_SHIFT) + (__u32)sub;
	} else {
		index = histogram_index(ns);
		*octave = index < HISTOGRAM_SUBS ? 0 : (index >> HISTOGRAM_SUB_SHIFT) - 1;
	}
	/* Never true; it tells the BPF verifier the bounds of the index. */
	if (index >= HISTOGRAM_BUCKETS)
		return;
	h->bucket[index]++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* Number of recorded values. */
static inline __u64 histogram_count(const struct dualpi2_histogram *h)
{
	__u64 count = 0;

	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

/* The value in nanoseconds that `permille` of 1000 recorded values do not exceed
 * (nearest rank); 0 when nothing was recorded.
 */
static inline __u64 histogram_quantile(const struct dualpi2_histogram *h, __u32 permille)
{
	__u64 count = histogram_count(h), seen = 0, rank;

	if (!count)
		return 0;
	/* ceil(count * permille / 1000) without overflow, at least the first value */
	rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	if (!rank)
		rank = 1;
	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank) {
			__u64 middle = (histogram_edge(i) + histogram_edge(i + 1)) / 2;

			return middle < h->max_ns ? middle : h->max_ns;
		}
	}
	return h->max_ns;
}

#endif /* DUALPI2_HISTOGRAM_H */
