/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network namespace that we are in, and stay in. */
#ifndef NETNS_H
#define NETNS_H

#include <linux/types.h>

/* Its cookie, as struct dualpi2_key has it; 0: the kernel does not say, which is reported. */
__u64 netns_current(void);

#endif /* NETNS_H */
