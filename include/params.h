/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parameters that a qdisc has whatever its AQM: a row each. Of the rows come the members of
 * struct dualpi2_params and its defaults (dualpi2.h), and in the tools the options, --help, the
 * man page, the range checks and what --json and --tc show. Included by dualpi2.h.
 *
 *	PARAM(type, member, option, kind, min, max, default, JSON key, help)
 *		a member, and the option that sets it. The kind says how a value is read and
 *		shown (user/cli/value.h). NULL: it has no option, or no JSON key.
 *	CHOICE(type, member, option, words, default, JSON key, help)
 *		a member that is one of a few values from 0 on: what JSON calls them, "step|ramp",
 *		and the option as well if there is one
 *	FLAG(option, kind, member, value, help)
 *		an option that takes no value, but stands for one of a member. Of those of one
 *		member only one may be given.
 *
 * They stand in the order in which tc prints what sch_dualpi2 has too, where the parameters of
 * the AQM (include/aqm/) follow DUALPI2_LIMITS. In this order they take effect as well, so that
 * an overhead adjusts a preset. Names, defaults and ranges are those of sch_dualpi2
 * (include/uapi/linux/pkt_sched.h, TCA_DUALPI2_*) where it has them.
 */
#ifndef DUALPI2_PARAMS_H
#define DUALPI2_PARAMS_H

#define DUALPI2_TIME_MAX (0xffffffffULL * DUALPI2_NSEC_PER_USEC) /* as native: 32 bits of us */

/* Bytes a second. A full frame takes 1.5 s at the lowest rate, 12 ns at the highest. */
#define DUALPI2_RATE_MIN (8000ULL / 8)
#define DUALPI2_RATE_MAX (1000000000000ULL / 8)

/* The value of a preset: what it stands for, in one number. */
#define DUALPI2_PRESET(framing, overhead, mpu) ((framing) << 16 | (overhead) << 8 | (mpu))

/* limit: packets in both queues, on a link of several qdiscs in those of all. memlimit: bytes of
 * skb->truesize there; 0: a rule of thumb, dualpi2_memlimit().
 */
#define DUALPI2_LIMITS(PARAM, CHOICE, FLAG)                                         \
	PARAM(__u32, limit, "limit", PACKETS, 1, DUALPI2_LIMIT_MAX, 10000, "limit", \
	      "maximum number of packets in all queues")                            \
	PARAM(__u32, memlimit, "memlimit", SIZE, 1, UINT32_MAX, 0, "memory-limit",  \
	      "maximum kernel memory of all queues (2 * limit * (MTU + link "       \
	      "header), recomputed with a new limit)")

/* step_ns: delay, ns, above which L is marked; step_packets, if step_in_packets. min_qlen_step:
 * packets that L must hold for its AQM to act. coupling: k of RFC 9332. overflow: p' ends at 1/k
 * and the queue grows. drop_enqueue: the AQM drops on arrival, not on departure.
 * classic_protection: share of the link for the C queue, %. ecn_mask: enum dualpi2_ecn_mask.
 * split_gso: enum dualpi2_split_gso.
 */
#define DUALPI2_QUEUES(PARAM, CHOICE, FLAG)                                                        \
	PARAM(__u64, step_ns, "step-thresh", STEP, 0, DUALPI2_TIME_MAX, DUALPI2_NSEC_PER_MSEC,     \
	      "step-thresh",                                                                       \
	      "delay, or packets as in 5p, above which every L4S packet is "                       \
	      "marked; a delay never marks a packet that finds fewer than two "                    \
	      "in its queue")                                                                      \
	PARAM(__u32, step_packets, NULL, PART, 0, 0, 0, NULL, NULL)                                \
	PARAM(__u32, step_in_packets, NULL, PART, 0, 0, 0, NULL, NULL)                             \
	PARAM(__u32, min_qlen_step, "min-qlen-step", QLEN, 0, UINT32_MAX, 0, "min-qlen-step",      \
	      "packets in the L4S queue below which the step marks none")                          \
	PARAM(__u8, coupling, "coupling-factor", NUMBER, 1, UINT8_MAX, 2, "coupling",              \
	      "L4S packets are marked with N times p'")                                            \
	CHOICE(__u8, overflow, NULL, "drop|overflow", 0, "drop-overload", NULL)                    \
	FLAG("drop-on-overload", SWITCH, overflow, 0, "in overload both queues drop")              \
	FLAG("overflow", SWITCH, overflow, 1, "in overload the queue grows to its limit")          \
	CHOICE(__u8, drop_enqueue, NULL, "drop-dequeue|drop-enqueue", 0, "drop-early", NULL)       \
	FLAG("drop-dequeue", SWITCH, drop_enqueue, 0, "the AQM drops packets as they leave")       \
	FLAG("drop-enqueue", SWITCH, drop_enqueue, 1, "the AQM drops packets as they arrive")      \
	PARAM(__u8, classic_protection, "classic-protection", PERCENT, 0, 100, 10, "c-protection", \
	      "share of the link reserved for Classic packets")                                    \
	CHOICE(__u32, ecn_mask, NULL, "no-l4s|l4s-ect||any-ect", DUALPI2_ECN_L4S_ECT, "ecn-mask",  \
	       NULL)                                                                               \
	FLAG("l4s-ect", SWITCH, ecn_mask, DUALPI2_ECN_L4S_ECT, "ECT(1) and CE are L4S")            \
	FLAG("any-ect", SWITCH, ecn_mask, DUALPI2_ECN_ANY_ECT, "ECT(0) is L4S too")                \
	PARAM(__u32, split_gso, NULL, PRESENCE, 0, 2, DUALPI2_SPLIT_ALWAYS, "split-gso", NULL)     \
	FLAG("split-gso", SWITCH, split_gso, DUALPI2_SPLIT_ALWAYS,                                 \
	     "GSO packets are split before they queue")                                            \
	FLAG("no-split-gso", SWITCH, split_gso, DUALPI2_SPLIT_NEVER,                               \
	     "a GSO packet, up to 64 kB and more, queues as one packet")

/* rate: bytes/s on the wire; 0: not shaped. framing: enum dualpi2_framing. overhead: bytes that
 * the link adds to a packet. mpu: bytes that a packet takes at least. The presets have the
 * figures of cake's keywords (tc-cake(8)).
 */
#define DUALPI2_SHAPER(PARAM, CHOICE, FLAG)                                                      \
	PARAM(__u64, rate, "rate", RATE, DUALPI2_RATE_MIN, DUALPI2_RATE_MAX, 0, "rate",          \
	      "send no faster than this; 0: at the speed of the device")                         \
	CHOICE(__u16, framing, NULL, "raw|network|ptm", DUALPI2_FRAMING_RAW, "framing", NULL)    \
	FLAG("raw", PRESET, framing, DUALPI2_PRESET(DUALPI2_FRAMING_RAW, 0, 0),                  \
	     "count packets with their link header, as the kernel does")                         \
	FLAG("ethernet", PRESET, framing, DUALPI2_PRESET(DUALPI2_FRAMING_NETWORK, 38, 84),       \
	     "count as Ethernet does: --overhead 38 --mpu 84")                                   \
	FLAG("docsis", PRESET, framing, DUALPI2_PRESET(DUALPI2_FRAMING_NETWORK, 18, 64),         \
	     "count as a cable modem does: --overhead 18 --mpu 64")                              \
	FLAG("pppoe-ptm", PRESET, framing, DUALPI2_PRESET(DUALPI2_FRAMING_PTM, 30, 0),           \
	     "count as VDSL2 does: --overhead 30, and a byte more per 64")                       \
	PARAM(__s16, overhead, "overhead", OVERHEAD, DUALPI2_OVERHEAD_MIN, DUALPI2_OVERHEAD_MAX, \
	      0, "overhead",                                                                     \
	      "what the link adds to a packet, counted from its IP header on; "                  \
	      "overrides a preset")                                                              \
	PARAM(__u32, mpu, "mpu", BYTES, 0, DUALPI2_MPU_MAX, 0, "mpu",                            \
	      "minimum size of a packet on the link, overhead included; "                        \
	      "overrides a preset")

/* What sch_dualpi2 does not have. l4s_dscp, classic_dscp: bit n is for DSCP n, which goes to L,
 * or never does (RFC 9331, 5.4.1.1, 5.4.1.2). l_aqm: enum dualpi2_l_aqm. p_cmax: p_C that is
 * overload, 2^-32; 0: 1/k^2. split_above: bytes that a GSO packet may have and still queue whole,
 * where they are split; 0: none does (split_gso.h). guard: 1: on (guard.h).
 * sparse: 1: on (sparse.h). charges_lost: 1: what is dropped has used the link already, as it
 * arrived through it (shaper.h). per_host: enum dualpi2_per_host. hosts: DualQs for hosts, a
 * multiple of HOSTS_WAYS. host_prefix: bits of an IPv6 address (hosts.h).
 */
#define DUALPI2_OWN(PARAM, CHOICE, FLAG)                                                           \
	FLAG("no-l4s", SWITCH, ecn_mask, DUALPI2_ECN_NO_L4S,                                       \
	     "no ECN field means L4S, and ECT(1) counts as Not-ECT")                               \
	PARAM(__u64, l4s_dscp, "l4s-dscp", DSCPS, 0, 0, 0, "l4s-dscp",                             \
	      "DSCPs that use the L4S queue whatever their ECN field, as in "                      \
	      "ef,nqb,40")                                                                         \
	PARAM(__u64, classic_dscp, "classic-dscp", DSCPS, 0, 0, 0, "classic-dscp",                 \
	      "DSCPs that never use the L4S queue")                                                \
	CHOICE(__u32, l_aqm, "l-aqm", "step|ramp", DUALPI2_L_STEP, "l-aqm",                        \
	       "AQM of the L4S queue: marks every packet above the step "                          \
	       "threshold (step), or more and more of them from 800us on and "                     \
	       "all from 1.2ms on (ramp)")                                                         \
	PARAM(__u32, p_cmax, "p-cmax", SHARE, 1, 1LL << 32, 0, "p-cmax",                           \
	      "Classic probability at which overload begins; auto: 1/k^2, "                        \
	      "where k is the coupling factor")                                                    \
	FLAG("auto-split-gso", SWITCH, split_gso, DUALPI2_SPLIT_AUTO,                              \
	     "a GSO packet is split if it takes longer on the link, by --rate or "                 \
	     "the speed of the device, than a quarter of the step threshold; "                     \
	     "always if neither is known")                                                         \
	PARAM(__u64, split_above, NULL, PART, 0, 0, 0, "split-gso-above", NULL)                    \
	CHOICE(__u32, guard, NULL, "off|on", 0, "guard", NULL)                                     \
	FLAG("guard", SWITCH, guard, 1,                                                            \
	     "flows that make the L4S queue long wait in the Classic queue for a while")           \
	FLAG("no-guard", SWITCH, guard, 0, "every L4S flow stays in the L4S queue")                \
	CHOICE(__u32, sparse, NULL, "off|on", 0, "sparse", NULL)                                   \
	FLAG("sparse", SWITCH, sparse, 1,                                                          \
	     "Classic flows that build no queue, such as calls, games and DNS, are "               \
	     "served as L4S; with --rate")                                                         \
	FLAG("no-sparse", SWITCH, sparse, 0, "only ECN field, DSCP and priority choose the queue") \
	PARAM(__u32, charges_lost, NULL, PART, 0, 0, 0, NULL, NULL)                                \
	CHOICE(__u32, per_host, "per-host", "off|dst|src|auto", DUALPI2_HOSTS_OFF, "per-host",     \
	       "queues of its own and an equal share of the link for each host: hosts "            \
	       "are where packets go (dst), where they come from (src), or on the side "           \
	       "that has no default route (auto). on and off replace the attached qdisc, "         \
	       "as --aqm does")                                                                    \
	PARAM(__u32, hosts, "hosts", NUMBER, HOSTS_WAYS, DUALPI2_HOSTS_MAX, 4096, "hosts",         \
	      "with --per-host: how many can have queues of their own at a time, in steps "        \
	      "of 8; more share them. Fixed once it is attached")                                  \
	PARAM(__u32, host_prefix, "host-prefix", NUMBER, 1, 128, 64, "host-prefix",                \
	      "with --per-host: so many bits of an IPv6 address make a host")

/* All of them. */
#define DUALPI2_PARAMS(PARAM, CHOICE, FLAG) \
	DUALPI2_LIMITS(PARAM, CHOICE, FLAG) \
	DUALPI2_QUEUES(PARAM, CHOICE, FLAG) \
	DUALPI2_SHAPER(PARAM, CHOICE, FLAG) \
	DUALPI2_OWN(PARAM, CHOICE, FLAG)

/* What a row is to a struct, and to an initializer of it. */
#define DUALPI2_MEMBER(type, member, ...) type member;
#define DUALPI2_SIZE(type, ...) +sizeof(type)
#define DUALPI2_DEFAULT(type, member, option, kind, min, max, fallback, json, help) \
	.member = (fallback),
#define DUALPI2_DEFAULT_CHOICE(type, member, option, words, fallback, json, help) \
	.member = (fallback),
#define DUALPI2_NOTHING(...)

#endif /* DUALPI2_PARAMS_H */
