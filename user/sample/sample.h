/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures of live instances at one moment. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aqm/aqm.h"
#include "dualpi2.h"
#include "kernel/qdisc.h"

struct sample {
	const struct aqm *aqm;
	struct dualpi2_key key;
	/* The sum over the queues of an mq, as the kernel shows one for its root: of its
	 * `stats` only the counters, the memory and the parameters mean something.
	 */
	bool is_sum;
	__u64 taken_ns; /* the moment that the figures are of, CLOCK_MONOTONIC */
	/* What counters and delays are of: so much time before taken_ns (interval.h); 0: since
	 * the qdisc was attached.
	 */
	__u64 span_ns;
	char ifname[IF_NAMESIZE]; /* now; stats.ifname is that at the start */
	struct dualpi2_stats stats;
	struct dualpi2_delays delays;
	struct qdisc_counters counters; /* of the kernel, as tc shows them */
	uint32_t refcnt;		/* of the qdisc, as tc shows it */
	bool tcx_attached;
	bool tcx_known; /* only with the right to open its pin */
};

struct samples {
	struct sample
		*items; /* sorted by interface name, and a sum before its queues; free() them */
	size_t count;
};

/* The name that an interface has now, or had when its qdisc started (`old_name`). */
const char *sample_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE]);

/* Microseconds, the unit of both tc's output and ours for programs. */
static inline __u64 sample_us(__u64 ns)
{
	return (ns + DUALPI2_NSEC_PER_USEC / 2) / DUALPI2_NSEC_PER_USEC;
}

/* What native has in its struct tc_dualpi2_xstats, computed from what we count. */
struct sample_xstats {
	double prob;			 /* p', 0..1 */
	uint64_t delay_c_us, delay_l_us; /* age of the head */
	uint64_t packets_in_c, packets_in_l;
	uint64_t ecn_mark, step_mark; /* packets of both queues */
};

struct sample_xstats sample_xstats(const struct dualpi2_stats *stats);

/* The parameters in force, with what stands for "auto" and "by a rule" in them: p_C that is
 * overload and the memory limit.
 */
struct dualpi2_params sample_params(const struct dualpi2_stats *stats);

/* p_C and p_CL as fractions of 1: what Classic and L4S packets are marked or dropped
 * with. p' itself is `p`.
 */
struct probabilities {
	double p;
	double classic;
	double l4s;
};

struct probabilities sample_probabilities(const struct dualpi2_stats *stats);

/* Mean of all recorded delays, in nanoseconds. */
__u64 sample_mean_delay(const struct dualpi2_histogram *histogram);

#endif /* SAMPLE_H */
