/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The logarithm to base 2, in integers, for BPF and user space. */
#ifndef DUALPI2_LG_H
#define DUALPI2_LG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* floor(log2(v)) of a v > 0: the bits below the highest one, counted. BPF has no instruction that
 * counts leading zeros, and compilers before clang 19 end with an error where they are asked for
 * it. Without branches: the verifier goes through all that follows once for each way through them.
 */
static inline __u32 lg_floor(__u64 v)
{
	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	v >>= 1;
	v -= v >> 1 & 0x5555555555555555ULL;
	v = (v & 0x3333333333333333ULL) + (v >> 2 & 0x3333333333333333ULL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (__u32)(v * 0x0101010101010101ULL >> 56);
}

#define LG_SHIFT 16

/* lg x, 2^-16, for x > 0; between powers of two on a straight line, which is off by 0.09. */
static inline __s32 lg(__u64 x)
{
	const int whole = (int)lg_floor(x);

	return whole << LG_SHIFT |
	       (__s32)((whole > LG_SHIFT ? x >> (whole - LG_SHIFT) : x << (LG_SHIFT - whole)) &
		       ((1 << LG_SHIFT) - 1));
}

#endif /* DUALPI2_LG_H */
