/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is counted and measured: a row each. Of the rows come the members of the structs in
 * dualpi2.h, and in the tools JSON, OpenMetrics, the table, sums, intervals and the man page.
 *
 *	X(type, member, unit, JSON key, metric, meaning)
 *		The key "gso.split" is `split` in the object `gso`; NULL: JSON does not have it
 *		here. The metric is the name of a family of OpenMetrics, without "dualpi2_" and
 *		"_total"; NULL: it is in none. What is in "microseconds" is kept in ns, and in
 *		OpenMetrics in seconds. Several rows with one metric are its causes: what the
 *		member has behind its first '_'.
 */
#ifndef DUALPI2_STATS_H
#define DUALPI2_STATS_H

/* ---- of a queue ---------------------------------------------------------------- */

#define DUALPI2_QUEUE_FLOWS(X)                                                              \
	X(__u64, packets_in, "packets", "packets-in", "received_packets",                   \
	  "arrived for this queue")                                                         \
	X(__u64, bytes_in, "bytes", "bytes-in", "received_bytes", "arrived for this queue") \
	X(__u64, packets_out, "packets", "packets-out", "forwarded_packets",                \
	  "forwarded to the device")                                                        \
	X(__u64, bytes_out, "bytes", "bytes-out", "forwarded_bytes", "forwarded to the device")

#define DUALPI2_QUEUE_MARKS(X)                                              \
	X(__u64, mark_native, "packets", "mark-native", "marked_packets",   \
	  "CE-marked by the L queue's own AQM, its step or ramp")           \
	X(__u64, mark_coupled, "packets", "mark-coupled", "marked_packets", \
	  "CE-marked by the coupled AQM: with p_CL, or p_C if Classic")     \
	X(__u64, mark_guard, "packets", "mark-guard", "marked_packets",     \
	  "CE-marked in C by the guard, of flows that it took out of L")

#define DUALPI2_QUEUE_DROPS(X)                                                   \
	X(__u64, drop_aqm, "packets", "drop-aqm", "dropped_packets",             \
	  "dropped by the AQM: Not-ECT, or the tcx program is missing")          \
	X(__u64, drop_overload, "packets", "drop-overload", "dropped_packets",   \
	  "ECN-capable, dropped because of overload (p_C >= p_Cmax)")            \
	X(__u64, drop_guard, "packets", "drop-guard", "dropped_packets",         \
	  "dropped on arrival: more than the share of flows out of L")           \
	X(__u64, drop_limit, "packets", "drop-limit", "dropped_packets",         \
	  "dropped on arrival: the queues held `limit` packets")                 \
	X(__u64, drop_memlimit, "packets", "drop-memlimit", "dropped_packets",   \
	  "dropped on arrival: the queues held `memlimit` bytes")                \
	X(__u64, drop_trim, "packets", "drop-trim", "dropped_packets",           \
	  "queued, dropped because `limit` or `memlimit` was lowered")           \
	X(__u64, drop_no_memory, "packets", "drop-no-memory", "dropped_packets", \
	  "dropped on arrival: the kernel had no memory for a node")             \
	X(__u64, drop_reset, "packets", "drop-reset", "dropped_packets",         \
	  "thrown away when the link went down or the qdisc was removed")

/* The conservation law holds at every moment under the qdisc lock:
 *	packets_in = packets_out + sum of DUALPI2_QUEUE_DROPS + backlog_packets
 *	bytes_in   = bytes_out + drop_bytes + backlog_bytes
 */
#define DUALPI2_QUEUE_COUNTERS(X) \
	DUALPI2_QUEUE_FLOWS(X)    \
	DUALPI2_QUEUE_MARKS(X)    \
	DUALPI2_QUEUE_DROPS(X)    \
	X(__u64, drop_bytes, "bytes", "drop-bytes", "dropped_bytes", "dropped, by whatever cause")

#define DUALPI2_QUEUE_GAUGES(X)                                                                 \
	X(__u64, backlog_packets, "packets", "backlog-packets", "queued_packets", "queued now") \
	X(__u64, backlog_bytes, "bytes", "backlog-bytes", "queued_bytes", "queued now")

/* ---- of a qdisc ---------------------------------------------------------------- */

#define DUALPI2_GAUGES(X)                                                                         \
	X(__u32, memlimit, "bytes", "memory-limit", NULL,                                         \
	  "most kernel memory for the queued packets: what was set, or the rule of "              \
	  "thumb")                                                                                \
	X(__u32, memory_used, "bytes", "memory-used", "memory_bytes",                             \
	  "kernel memory of the queued packets (skb->truesize)")                                  \
	X(__u32, max_memory_used, "bytes", "max-memory-used", NULL, "highest memory-used so far") \
	X(__u32, maxq, "packets", "maxq", NULL, "most that were ever queued at the same time")    \
	X(__s32, credit, "bytes times percent", "credit", NULL,                                   \
	  "of the scheduler; while it is positive, C is served first")                            \
	X(__u32, hosts_waiting, "hosts", "hosts.waiting", "waiting_hosts",                        \
	  "for which packets wait (--per-host)")

#define DUALPI2_COUNTERS(X)                                                             \
	X(__u64, bypassed_tcx, "packets", "bypassed-tcx", "bypassed_tcx_packets",       \
	  "that did not pass our tcx program, so that they could only be dropped")      \
	X(__u64, mispredicted, "packets", "mispredicted", "mispredicted_packets",       \
	  "whose mark was decided for another queue of the mq")                         \
	X(__u64, gso_split, "packets", "gso.split", "gso_split_packets",                \
	  "of GSO that were split; their segments then arrive")                         \
	X(__u64, gso_whole, "packets", "gso.whole", "gso_whole_packets",                \
	  "of GSO that were queued whole, each counted as its segments")                \
	X(__u64, convictions, "convictions", "guard.convictions", "guard_convictions",  \
	  "that the guard took a flow out of L")                                        \
	X(__u64, redirected, "packets", "guard.redirected", "guard_redirected_packets", \
	  "of such flows, which came to C")                                             \
	X(__u64, unjudged, "packets", "guard.unjudged", "guard_unjudged_packets",       \
	  "that found no place in the guard's table, and so stayed in L")               \
	X(__u64, sparse_packets, "packets", "sparse.packets", "sparse_packets",         \
	  "of Classic flows that build no queue, served as L4S")                        \
	X(__u64, sparse_unknown, "packets", "sparse.unknown", "sparse_unknown_packets", \
	  "whose flow found no place in the table, and so stayed Classic")              \
	X(__u64, hosts_claims, "claims", "hosts.claims", "host_claims",                 \
	  "that a host got a DualQ which was idle")                                     \
	X(__u64, hosts_shared, "packets", "hosts.shared", "host_shared_packets",        \
	  "of hosts that shared the DualQ of another one, as none was idle")            \
	X(__u64, updates, "updates", "updates", "probability_updates", "of the AQM")

#define DUALPI2_STAT(type, member, unit, key, metric, meaning) type member;

#endif /* DUALPI2_STATS_H */
