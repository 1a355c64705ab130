/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VDQ-CSAQM, as all that is not its own code sees it. Built with `make VDQ=1` only: see the patents
 * in bpf/aqm/vdq.bpf.h.
 */
#ifndef DUALPI2_AQM_VDQ_H
#define DUALPI2_AQM_VDQ_H

#include "dualpi2.h"
#include "vdq/packet_value.h"
#include "vdq/vdq.h"

#define AQM_NAME "vdq"
#define AQM_KIND "bpf_dualq_vdq"
#define AQM_NOT_SHARED "it decides by the packets that leave one queue"
#define AQM_NO_HOSTS "its packet values need the room in which a packet carries its host"
#define AQM_ABOUT "VDQ-CSAQM, fair without flow state"
#define AQM_CAUTION                                                                      \
	"US patents 12500850, 11038806, 12021756 and 11695703 read on it: whoever uses " \
	"or distributes it has to look into that."
#define AQM_OPT_IN
#define AQM_HAS_VALUES true
#define AQM_DOUBT vdq_doubt
#define AQM_DESCRIBE vdq_describe

/* Where a packet's value comes from. */
enum vdq_values {
	VDQ_MEASURED, /* this qdisc measures each flow */
	VDQ_LABEL,    /* the IPv6 flow label has it; of IPv4 as before */
};

/* link_rate: of the device, where it is the bottleneck and there is no shaper, bytes/s. l_delay_ns,
 * all_delay_ns: D of the virtual queue of L packets, and of that of all, ns. memory_ns: how long a
 * change of a flow's rate takes to be seen, ns. value_source: enum vdq_values. l_percent,
 * all_percent: C_v of both, % of the link. bins: of their histograms. ring: packets that each
 * holds.
 */
#define AQM_PARAMS(PARAM, CHOICE, FLAG)                                                          \
	PARAM(__u64, link_rate, "link-rate", RATE, DUALPI2_RATE_MIN, DUALPI2_RATE_MAX, 0,        \
	      "link-rate", "rate of the device, where there is no --rate")                       \
	PARAM(__u64, l_delay_ns, "virtual-l-target", TIME, 0, VDQ_TARGET_MAX,                    \
	      DUALPI2_NSEC_PER_MSEC, "virtual-l-target",                                         \
	      "delay that the virtual queue of the L4S packets may have")                        \
	PARAM(__u64, all_delay_ns, "virtual-target", TIME, 0, VDQ_TARGET_MAX,                    \
	      2 * DUALPI2_NSEC_PER_MSEC, "virtual-target",                                       \
	      "delay that the virtual queue of all packets may have")                            \
	PARAM(__u64, memory_ns, "rate-memory", TIME, DUALPI2_NSEC_PER_MSEC, VALUE_MEMORY_MAX_NS, \
	      VALUE_MEMORY_NS, "rate-memory",                                                    \
	      "how long a change of a flow's rate takes to be seen")                             \
	CHOICE(__u32, value_source, "values", "measured|flow-label", VDQ_MEASURED, "values",     \
	       "where packet values come from: measured here for each flow, or "                 \
	       "the IPv6 flow label")                                                            \
	PARAM(__u32, l_percent, "virtual-l-rate", PERCENT, 1, 100, 95, "virtual-l-rate",         \
	      "share of the link that L4S packets may fill")                                     \
	PARAM(__u32, all_percent, "virtual-rate", PERCENT, 1, 100, 98, "virtual-rate",           \
	      "share of the link that all packets may fill")                                     \
	PARAM(__u32, bins, "bins", NUMBER, 1, VDQ_BINS_MAX, 512, "bins",                         \
	      "bins of the histograms of packet values")                                         \
	PARAM(__u32, ring, "ring", PACKETS, 1, VDQ_RING_MAX, VDQ_RING_MAX, "ring",               \
	      "packets that each virtual queue holds")

/* Time between two CTVs, ns. */
#define AQM_PERIOD(own) VDQ_PERIOD_NS

/* ctv_l, ctv_all: congestion threshold values; 0: every packet passes. virtual_l, virtual_all:
 * bytes that waited for the virtual links when the latest packet came. without_value: packets that
 * got the middle one. overflows: packets that found a virtual queue full, and so did not count.
 * flows, flows_evicted: that are measured, and that had to make room, of all qdiscs of this AQM.
 */
#define AQM_GAUGES(GAUGE, COUNTER)                                                            \
	COUNTER(__u64, without_value, "packets", "without-value", "unvalued_packets",         \
		"that had no value, and so got the middle one")                               \
	COUNTER(__u64, overflows, "packets", "virtual-overflows", "virtual_overflow_packets", \
		"that found a virtual queue full, and were not counted in it")                \
	COUNTER(__u64, flows_evicted, "flows", "flows-evicted", "evicted_flows",              \
		"that made room for new ones, of all qdiscs of this AQM")                     \
	GAUGE(__u32, flows, "flows", "flows", "measured_flows",                               \
	      "measured now, by all qdiscs of this AQM")                                      \
	GAUGE(__u32, ctv_l, "values", "ctv-l", "ctv_l_values",                                \
	      "up to which L4S packets are marked: the CTV of L")                             \
	GAUGE(__u32, ctv_all, "values", "ctv", "ctv_values",                                  \
	      "up to which packets are marked or dropped: the CTV of all")                    \
	GAUGE(__u32, virtual_l, "bytes", "virtual-l", "virtual_l_bytes",                      \
	      "in the virtual queue of the L4S packets")                                      \
	GAUGE(__u32, virtual_all, "bytes", "virtual", "virtual_bytes",                        \
	      "in the virtual queue of all packets")

#include "aqm.h"

#endif /* DUALPI2_AQM_VDQ_H */
