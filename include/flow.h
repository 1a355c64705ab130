/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a flow, by whoever judges flows. */
#ifndef DUALPI2_FLOW_H
#define DUALPI2_FLOW_H

#include "guard.h"
#include "sparse.h"

/* Flows that are known at the same time, of all qdiscs of an AQM; a power of two, 2^16 at most. */
#define DUALPI2_FLOWS 8192

/* Which qdisc a flow is at: other ones at each, and at one that comes in its place later. */
static inline __u32 flow_qdisc(__u32 number, __u64 since_ns)
{
	return number + (__u32)since_ns;
}

/* A hash that takes in one more word of what tells flows apart. It begins with a random key, so
 * that nobody outside can choose flows that share a place. (One step of MurmurHash3's finalizer.)
 */
static inline __u64 flow_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

/* The last word of a flow: what its header begins with, ports or an SPI. One step more, so that all
 * bits of the result hang on each of them.
 */
static inline __u64 flow_end(__u64 hash, __u32 four_bytes, __u8 protocol)
{
	return flow_mix(flow_mix(hash, (__u64)protocol << 32 | four_bytes), 0);
}

/* Value of dualpi2_flows. */
struct dualpi2_flow {
	__u32 id;    /* of the flow at its qdisc; 0: free */
	__u32 qdisc; /* flow_qdisc() of that, for tools */
	struct guard_flow guard;
	struct sparse_flow sparse;
} __attribute__((aligned(64))); /* no two share a cache line */

_Static_assert(sizeof(struct dualpi2_flow) == 64, "one cache line");

/* Is there nothing left to know of it? */
static inline bool flow_is_forgotten(const struct dualpi2_flow *flow, __u64 now)
{
	return guard_is_forgotten(&flow->guard, now) && sparse_is_forgotten(&flow->sparse, now);
}

#endif /* DUALPI2_FLOW_H */
