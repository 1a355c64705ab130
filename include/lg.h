/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The logarithm to base 2, in integers, for BPF and user space. */
#ifndef DUALPI2_LG_H
#define DUALPI2_LG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* floor(log2(v)) of a v > 0. BPF has no instruction that counts leading zeros, and compilers before
 * clang 19 end with an error where they are asked for it.
 */
static inline __u32 lg_floor32(__u32 v)
{
	__u32 log = 0;

	if (v >= 1U << 16) {
		v >>= 16;
		log += 16;
	}
	if (v >= 1U << 8) {
		v >>= 8;
		log += 8;
	}
	if (v >= 1U << 4) {
		v >>= 4;
		log += 4;
	}
	if (v >= 1U << 2) {
		v >>= 2;
		log += 2;
	}
	return log + (v >> 1);
}

static inline __u32 lg_floor(__u64 v)
{
	return v >> 32 ? 32 + lg_floor32((__u32)(v >> 32)) : lg_floor32((__u32)v);
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
