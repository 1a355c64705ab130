/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The logarithm to base 2, in integers, for BPF and user space. */
#ifndef DUALPI2_LG_H
#define DUALPI2_LG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LG_SHIFT 16

/* lg x, 2^-16, for x > 0; between powers of two on a straight line, which is off by 0.09. */
static inline __s32 lg(__u64 x)
{
	const int whole = 63 - __builtin_clzll(x);

	return whole << LG_SHIFT |
	       (__s32)((whole > LG_SHIFT ? x >> (whole - LG_SHIFT) : x << (LG_SHIFT - whole)) &
		       ((1 << LG_SHIFT) - 1));
}

#endif /* DUALPI2_LG_H */
