/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/base_rtt.bpf.c and tcp-base-rtt share. */
#ifndef DUALPI2_TCP_BASE_RTT_H
#define DUALPI2_TCP_BASE_RTT_H

/* Changes whenever a layout or a meaning below does; part of the name of a map's pin. */
#define BASE_RTT_ABI "1"

#define BASE_RTT_PREFIXES 4096	/* of a control group */
#define BASE_RTT_MAX_US 1000000 /* what is longer is a slip: TCP-NV is for data centres */

/* What is known of the destinations in a prefix: a value of the longest-prefix map. */
struct base_rtt {
	__u32 rtt_us; /* 1 to BASE_RTT_MAX_US */
	__u32 reserved;
	__u64 asked; /* how often a socket has asked */
};

#endif /* DUALPI2_TCP_BASE_RTT_H */
