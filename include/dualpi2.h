/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs and the tools share: parameters, statistics, map keys.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, lengths are bytes as the qdisc layer
 * counts them (Ethernet header included, FCS and preamble not), probabilities are
 * fractions of 2^32 - 1. "Packets" are wire packets: a GSO super-packet counts
 * as its segments, as `tc -s qdisc` counts them.
 */
#ifndef DUALPI2_H
#define DUALPI2_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "histogram.h"
#include "hosts.h"
#include "params.h"
#include "stats.h"

/* Raised whenever a struct in this file or what the programs mean by it changes:
 * programs and tools of different ABIs never work on the same maps.
 */
#define DUALPI2_ABI 7

/* Qdiscs that can live at the same time on one host (entries of an array map). */
#define DUALPI2_MAX_INSTANCES 256

/* Highest `limit`: what one loop of a BPF program can throw away (BPF_MAX_LOOPS). */
#define DUALPI2_LIMIT_MAX (1U << 23)

/* Overload events that are kept for those who follow them, by each AQM; a power of two. */
#define DUALPI2_EVENTS 256

#define DUALPI2_NSEC_PER_SEC 1000000000ULL
#define DUALPI2_NSEC_PER_MSEC 1000000ULL
#define DUALPI2_NSEC_PER_USEC 1000ULL

/* How much earlier the clock of one CPU, or of a packet that was held up, may be, ns. */
#define DUALPI2_SKEW_NS DUALPI2_NSEC_PER_MSEC

/* Which ECN codepoints go to L, as bits of the ECN field that have to be set
 * (TCA_DUALPI2_ECN_MASK).
 */
enum dualpi2_ecn_mask {
	DUALPI2_ECN_NO_L4S = 0,	 /* none: L4S is off, ECT(1) counts as Not-ECT (RFC 9331, 5.1) */
	DUALPI2_ECN_L4S_ECT = 1, /* ECT(1) and CE */
	DUALPI2_ECN_ANY_ECT = 3, /* ECT(0) as well, and it is marked as L4S */
};

/* The native AQM of the L queue (RFC 9332, A.1, laqm()). */
enum dualpi2_l_aqm {
	DUALPI2_L_STEP = 0, /* every packet above a threshold is marked */
	DUALPI2_L_RAMP = 1, /* from DUALPI2_RAMP_MIN_NS on more and more, over _RANGE_NS all */
};

#define DUALPI2_RAMP_MIN_NS (800 * DUALPI2_NSEC_PER_USEC)   /* minTh of RFC 9332, A.1 */
#define DUALPI2_RAMP_RANGE_NS (400 * DUALPI2_NSEC_PER_USEC) /* range of RFC 9332, A.1 */

/* Which GSO packets are split before they queue. */
enum dualpi2_split_gso {
	DUALPI2_SPLIT_NEVER = 0,
	DUALPI2_SPLIT_ALWAYS = 1, /* all that can be */
	DUALPI2_SPLIT_AUTO = 2,	  /* those above split_above */
};

/* Which address of a packet says whose it is, where each host has a DualQ. */
enum dualpi2_per_host {
	DUALPI2_HOSTS_OFF = 0,
	DUALPI2_HOSTS_DST = 1,	/* where it goes */
	DUALPI2_HOSTS_SRC = 2,	/* where it comes from */
	DUALPI2_HOSTS_AUTO = 3, /* dualpi2-load finds out; never in force */
};

#define DUALPI2_HOSTS_MAX 65528 /* a multiple of HOSTS_WAYS, so that 16 bits number all */

/* How many bytes a packet takes on the link, for the shaper. */
enum dualpi2_framing {
	DUALPI2_FRAMING_RAW = 0,     /* as the qdisc layer counts it; overhead is not used */
	DUALPI2_FRAMING_NETWORK = 1, /* from the IP header on, plus overhead */
	DUALPI2_FRAMING_PTM = 2,     /* the same, times 65/64: 64b/65b encoding of VDSL2 */
};

#define DUALPI2_OVERHEAD_MIN (-64)
#define DUALPI2_OVERHEAD_MAX 256
#define DUALPI2_MPU_MAX 256

/* Parameters of one instance: those of params.h, then those of its AQM (struct aqm_params of
 * aqm.h), which nobody else understands.
 */
struct dualpi2_params {
	DUALPI2_PARAMS(DUALPI2_MEMBER, DUALPI2_MEMBER, DUALPI2_NOTHING)
	__u64 aqm[8];
};

_Static_assert(0 DUALPI2_PARAMS(DUALPI2_SIZE, DUALPI2_SIZE, DUALPI2_NOTHING) ==
		       __builtin_offsetof(struct dualpi2_params, aqm),
	       "a hole between two parameters: make the one before it wider");

/* But for those of the AQM. */
#define DUALPI2_DEFAULT_PARAMS \
	{ DUALPI2_PARAMS(DUALPI2_DEFAULT, DUALPI2_DEFAULT_CHOICE, DUALPI2_NOTHING) }

/* Native's rule of thumb for memlimit: twice the bytes of `limit` full packets,
 * to cover what the kernel adds to each (sch_dualpi2.c, get_memory_limit()).
 * `frame_len`: MTU + link header, bytes. Returns bytes.
 */
static inline __u32 dualpi2_memlimit(const struct dualpi2_params *params, __u32 frame_len)
{
	__u64 bytes = 2ULL * params->limit * frame_len;

	if (params->memlimit)
		return params->memlimit;
	return bytes > 0xffffffffULL ? 0xffffffffU : (__u32)bytes;
}

/* One qdisc of this host: key of dualpi2_stats and dualpi2_delays, and with
 * parent 0 of dualpi2_conf.
 */
struct dualpi2_key {
	__u64 netns;   /* cookie of the network namespace (SO_NETNS_COOKIE of socket(7)): unlike
			* its inode it never comes again
			*/
	__u32 ifindex; /* interface */
	__u32 parent;  /* TC_H_ROOT, or the class of an mq that it sits under */
};

/* In place of the parent, in keys of dualpi2_devices: what a device was made for. */
#define DUALPI2_SPLITTER 0xffffffffU /* TC_H_ROOT: splits GSO packets that leave */
#define DUALPI2_IFB 0xfffffff1U	     /* TC_H_INGRESS: has the qdisc for what arrives */

/* A device that was made for an interface: value of dualpi2_devices. Its number may come again
 * with another device, its address, drawn at random, does not.
 */
struct dualpi2_device {
	__u64 address; /* MAC address: the six bytes, then two that are 0 */
	__u32 ifindex; /* 0: it is being made */
	__u32 parent;  /* of an ifb: of its qdisc, or the first of several; else 0 */
};

/* Counters of one queue. */
struct dualpi2_counters {
	DUALPI2_QUEUE_COUNTERS(DUALPI2_STAT)
};

#define DUALPI2_ADDEND(type, member, ...) +counters->member

/* All packets that the queue dropped, by whatever cause. */
static inline __u64 dualpi2_drops(const struct dualpi2_counters *counters)
{
	return DUALPI2_QUEUE_DROPS(DUALPI2_ADDEND);
}

/* All packets of the queue that were CE-marked, by whatever cause. */
static inline __u64 dualpi2_marks(const struct dualpi2_counters *counters)
{
	return DUALPI2_QUEUE_MARKS(DUALPI2_ADDEND);
}

/* What is queued, by the conservation law. Read while packets come and go, what has left may
 * be newer than what has come, hence never below 0.
 */
static inline __u64 dualpi2_backlog_packets(const struct dualpi2_counters *counters)
{
	__u64 in = counters->packets_in, gone = counters->packets_out + dualpi2_drops(counters);

	return in > gone ? in - gone : 0;
}

static inline __u64 dualpi2_backlog_bytes(const struct dualpi2_counters *counters)
{
	__u64 in = counters->bytes_in, gone = counters->bytes_out + counters->drop_bytes;

	return in > gone ? in - gone : 0;
}

/* Overload (RFC 9332, 2.5.2.3): p_C has reached p_Cmax. An event ends when there was
 * none for DUALPI2_OVERLOAD_HOLD_NS, so that flapping is one event; that time is not
 * part of its duration.
 */
#define DUALPI2_OVERLOAD_HOLD_NS DUALPI2_NSEC_PER_SEC

struct dualpi2_overload {
	__u64 events;	   /* that have begun */
	__u64 start_ns;	   /* of the latest event */
	__u64 duration_ns; /* of the latest event, so far if it is active */
	__u64 total_ns;	   /* of all events, the latest included */
	__u32 active;	   /* 1: the latest event has not ended */
	__u32 reserved;	   /* 0 */
};

/* One queue, as it was at dualpi2_stats.refreshed_ns. */
struct dualpi2_queue {
	struct dualpi2_counters counters;
	DUALPI2_QUEUE_GAUGES(DUALPI2_STAT)
	__u64 head_age_ns; /* how long the packet at the head has waited; 0: the queue is empty */
};

/* What packets are marked and dropped with, 2^-32 each. */
struct dualpi2_levels {
	__u32 prob; /* p' of an AQM that couples its queues; else 0 */
	__u32 p_c;  /* Classic packets are marked or dropped with */
	__u32 p_cl; /* L4S packets are marked with because of both queues; 2^32 - 1: all */
};

/* What the guard (guard.h) holds against a flow, so that a tool can say how near it is to that. */
struct dualpi2_guard {
	__u64 blame_max_ns; /* blame that is too much, ns to drain */
	__u32 stricter_max; /* how often that halves for a flow that was convicted before, 0..3 */
	__u32 reserved;	    /* 0 */
};

/* One live qdisc: value of dualpi2_stats. A copy, made every update while packets flow, and by the
 * dualpi2_refresh program.
 */
struct dualpi2_stats {
	char ifname[16];	      /* name of the interface when the qdisc started */
	__u32 number;		      /* of the qdisc among those of its kind, 0..255 */
	__u32 handle;		      /* tc handle; 0: attached by the kernel as default */
	__u64 since_ns;		      /* when the qdisc started; unique among those of its key */
	__u64 refreshed_ns;	      /* when these figures were taken */
	struct dualpi2_params params; /* in force */
	DUALPI2_GAUGES(DUALPI2_STAT)
	struct dualpi2_levels levels;
	struct dualpi2_guard guard;
	__u64 aqm[8]; /* gauges of the AQM: struct aqm_gauges of aqm.h */
	DUALPI2_COUNTERS(DUALPI2_STAT)
	struct dualpi2_overload overload;
	struct dualpi2_queue l; /* the low-latency (L4S) queue */
	struct dualpi2_queue c; /* the Classic queue */
};

/* Sojourn times of the forwarded packets of both queues: value of
 * dualpi2_delays, refreshed together with dualpi2_stats.
 */
struct dualpi2_delays {
	struct dualpi2_histogram l;
	struct dualpi2_histogram c;
};

/* Of an AQM that knows packet values: the bytes in its virtual queues by value, in columns of the
 * same width from the least value on. Value of dualpi2_values, by the number of the qdisc,
 * refreshed with the others.
 */
#define DUALPI2_VALUE_COLUMNS 32

struct dualpi2_values {
	__u64 l[DUALPI2_VALUE_COLUMNS];	  /* L packets, bytes */
	__u64 all[DUALPI2_VALUE_COLUMNS]; /* all packets, bytes */
};

/* What the map dualpi2_events tells, when an overload event begins and ends: the latest
 * DUALPI2_EVENTS, each in the place of its number modulo that. Whoever reads changes nothing, so
 * all see all. One whose numbers differ is being written.
 */
struct dualpi2_event {
	__u64 number; /* from 1 on, of all that this AQM told; written last */
	struct dualpi2_key key;
	__u32 ended;	   /* 0: it begins, duration_ns is 0; 1: it has ended */
	__u32 netns;	   /* inode of the network namespace, as people know it (lsns) */
	char ifname[16];   /* as in struct dualpi2_stats */
	__u64 start_ns;	   /* of the event */
	__u64 duration_ns; /* of the event */
	__u64 begun;	   /* the same as `number`; written first */
};

/* Argument of the dualpi2_change program: parameters for a live instance. */
struct dualpi2_change {
	struct dualpi2_key key;
	struct dualpi2_params params;
};

/* The section that holds a bool, which is set before the programs are loaded: has this machine no
 * timers for them?
 */
#define DUALPI2_WITHOUT_TIMER ".rodata.without_timer"

#endif /* DUALPI2_H */
