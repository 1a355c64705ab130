/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CoDel in a DualQ, as all that is not its own code sees it. */
#ifndef DUALPI2_AQM_CODEL_H
#define DUALPI2_AQM_CODEL_H

#include "dualpi2.h"
#include "../codel.h"

#define AQM_NAME "codel"
#define AQM_KIND "bpf_dualq_codel"
#define AQM_NOT_SHARED "it decides by the packets that leave one queue"
#define AQM_HOSTS_KIND "bpf_codel_h"
#define AQM_ABOUT "CoDel (RFC 8289) for Classic packets, coupled to L4S"

/* codel_target_ns: delay that Classic packets may always have, ns. codel_interval_ns: how long they
 * may have more, ns. codel_law: enum codel_kind. codel_steps: of Newton's method; 0: what it takes.
 * Defaults: RFC 8289, 4.2 and 4.3.
 */
#define AQM_PARAMS(PARAM, CHOICE, FLAG)                                                            \
	PARAM(__u64, codel_target_ns, "codel-target", TIME, 0, DUALPI2_TIME_MAX,                   \
	      5 * DUALPI2_NSEC_PER_MSEC, "codel-target",                                           \
	      "delay that the Classic queue may always have")                                      \
	PARAM(__u64, codel_interval_ns, "codel-interval", TIME, DUALPI2_NSEC_PER_MSEC,             \
	      DUALPI2_TIME_MAX, 100 * DUALPI2_NSEC_PER_MSEC, "codel-interval",                     \
	      "how long it may have more: an RTT that most traffic stays below")                   \
	CHOICE(__u32, codel_law, "codel-law", "mainline|refined|2012", CODEL_REFINED, "codel-law", \
	       "Linux's law, the successor that ns-2 has, or the patch of 2012 between them")      \
	PARAM(__u32, codel_steps, "codel-newton", NUMBER, 0, CODEL_STEPS_MAX, 0, "codel-newton",   \
	      "steps of Newton's method for each new 1/sqrt(count); 0: as exact as it gets. "      \
	      "mainline always takes 1")

/* How often p' follows what the law did. */
#define AQM_PERIOD(own) (16 * DUALPI2_NSEC_PER_MSEC)

/* Of the C queue. drop_next_ns: until the next signal is due, ns; 0: now, or none is. count: the
 * law's count of signals. dropping: 1 in drop state.
 */
#define AQM_GAUGES(GAUGE, COUNTER)                                                         \
	GAUGE(__u64, drop_next_ns, "microseconds", "drop-next", "codel_drop_next_seconds", \
	      "until CoDel drops or marks the next Classic packet")                        \
	GAUGE(__u32, count, "packets", "count", "codel_count_packets",                     \
	      "that CoDel counts: its distances are interval / sqrt(count)")               \
	GAUGE(__u32, dropping, "queues", "dropping", "codel_dropping_queues",              \
	      "in CoDel's drop state: the Classic one, or none")

#include "aqm.h"

#endif /* DUALPI2_AQM_CODEL_H */
