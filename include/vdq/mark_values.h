/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/vdq/mark_values.bpf.c and dualpi2-mark-values share. */
#ifndef DUALPI2_MARK_VALUES_H
#define DUALPI2_MARK_VALUES_H

#include "vdq/packet_value.h"

/* Changes whenever a layout or a meaning below, or in packet_value.h, does; part of the names of
 * the maps' pins.
 */
#define MARK_VALUES_ABI "1"

#define MARK_VALUES_DSCPS 64 /* a policy for each */

/* What has become of the packets. */
struct mark_values_counters {
	__u64 labelled;	  /* got their value as the flow label */
	__u64 others;	  /* have no flow label: not IPv6 */
	__u64 unlabelled; /* could not get one: the kernel had no memory */
	__u64 flows;	  /* not packets: added to the table */
};

#endif /* DUALPI2_MARK_VALUES_H */
